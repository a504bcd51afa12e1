//! Configured providers as places.

use std::{borrow::Cow, collections::HashMap, fs, sync::Arc};

use trilith_core::{DialectId, Upstream};
use trilith_dialect::{CapabilityTable, Quirks};
use trilith_net::{Client, ClientConfig, Proxies, Roots, Timeouts};
use trilith_provider::{Place, Settings};

use crate::{
    config::{self, Config, MaxTokensField, Provider, ReasoningField, SystemRole, TlsRoots},
    say::Failure,
};

/// The places by their names.
pub(crate) type Places = HashMap<Arc<str>, Arc<dyn Upstream>>;

/// Every configured provider; `environment_proxies` count where a provider names none.
pub(crate) fn open(config: &Config, environment_proxies: &Proxies) -> Result<Places, Failure> {
    let mut places = Places::new();
    let rows = config.capabilities.iter().map(|(model, change)| (model.as_str(), change.clone()));
    let capabilities = Arc::new(CapabilityTable::new(rows));
    for provider in &config.providers {
        let place = place(provider, &capabilities, config.limits.max_answer_bytes, environment_proxies)
            .map_err(|failure| format!("provider '{}': {failure}", provider.name))?;
        places.insert(provider.name.as_str().into(), Arc::new(place));
    }
    Ok(places)
}

/// The proxies that the environment names, in the spelling that most programs read.
pub(crate) fn environment_proxies() -> Result<Proxies, Failure> {
    #[expect(clippy::disallowed_methods, reason = "read once at start, for the one outgoing client")]
    let read = |name: &str| std::env::var(name).or_else(|_| std::env::var(name.to_ascii_uppercase())).ok();
    // HTTP_PROXY in capitals can be set by a client of a CGI program; here nobody runs one.
    let proxies = Proxies::parse(
        read("http_proxy").as_deref(),
        read("https_proxy").as_deref(),
        read("no_proxy").as_deref(),
    );
    proxies.map_err(|error| format!("the proxy of the environment cannot be used: {error}").into())
}

fn place(
    provider: &Provider,
    capabilities: &Arc<CapabilityTable>,
    max_answer_bytes: usize,
    proxies: &Proxies,
) -> Result<Place, Failure> {
    let proxies = match &provider.proxy {
        Some(proxy) => Proxies::parse(Some(proxy.expose()), Some(proxy.expose()), None)?,
        None => proxies.clone(),
    };
    let extra_pem = match &provider.ca_file {
        Some(path) => vec![fs::read(path).map_err(|error| format!("ca_file {}: {error}", path.display()))?],
        None => Vec::new(),
    };
    let system = provider.tls_roots == TlsRoots::System;
    let roots = Roots { webpki: !system, system, extra_pem };
    let client = Client::new(ClientConfig { roots, proxies, ..ClientConfig::default() })?;
    let dialect = match provider.dialect {
        config::Dialect::Chat => DialectId::Chat,
        config::Dialect::Responses => DialectId::Responses,
        config::Dialect::Messages => DialectId::Messages,
        config::Dialect::Completions => DialectId::Completions,
    };
    let Some(dialect) = trilith_dialect::dialect(dialect) else {
        return Err("its dialect is not part of this build".into());
    };
    let path = match provider.dialect {
        config::Dialect::Chat => provider.paths.chat.clone(),
        config::Dialect::Responses => provider.paths.responses.clone(),
        config::Dialect::Messages => provider.paths.messages.clone(),
        config::Dialect::Completions => provider.paths.completions.clone(),
    };
    let mut headers: Vec<_> =
        provider.headers.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect();
    let selectors = [("openai-organization", &provider.organization), ("openai-project", &provider.project)];
    headers.extend(selectors.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?))));
    let place = Place::new(
        Settings {
            name: provider.name.clone(),
            dialect,
            base_url: provider.base_url.clone(),
            path,
            models_path: provider.paths.models.clone(),
            api_key: provider.api_key.as_ref().map(|key| key.expose().to_owned()),
            headers,
            quirks: quirks(&provider.quirks),
            capabilities: Arc::clone(capabilities),
            timeouts: Timeouts {
                connect: provider.timeouts.connect,
                first_byte: provider.timeouts.first_byte,
                idle: provider.timeouts.idle,
                total: None,
            },
            max_answer_bytes,
        },
        client,
    )?;
    Ok(place)
}

fn quirks(configured: &config::Quirks) -> Quirks {
    let mut quirks = Quirks::default();
    if let Some(field) = configured.max_tokens_field {
        quirks.max_tokens_field = Cow::Borrowed(match field {
            MaxTokensField::MaxCompletionTokens => "max_completion_tokens",
            MaxTokensField::MaxTokens => "max_tokens",
        });
    }
    if let Some(field) = configured.reasoning_field {
        quirks.reasoning_field = Cow::Borrowed(match field {
            ReasoningField::Reasoning => "reasoning",
            ReasoningField::ReasoningContent => "reasoning_content",
        });
        quirks.replay_reasoning = true;
    }
    if let Some(role) = configured.system_role {
        quirks.system_role = Cow::Borrowed(match role {
            SystemRole::System => "system",
            SystemRole::Developer => "developer",
        });
    }
    quirks.drop_fields = configured.drop_fields.iter().map(|field| field.as_str().into()).collect();
    quirks
}
