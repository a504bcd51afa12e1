//! Providers: presets, overrides of the limits, credentials that exclude each other.

use super::super::model::{
    Dialect, LOCAL, Limits, MaxTokensField, Paths, Provider, Quirks, ReasoningField, SystemRole, Timeouts,
    TlsRoots,
};
use super::super::preset::Preset;
use super::super::secret::Secret;
use super::super::values::Value;
use super::super::walk::Section;
use super::Build;

impl Build {
    pub(super) fn providers(&mut self, root: &Section, limits: &Limits) -> Vec<Provider> {
        let mut names = Vec::new();
        let mut providers = Vec::new();
        for section in root.sections.get("providers").into_iter().flatten() {
            self.unique(&mut names, section, "name");
            if self.text(section, "name").as_deref() == Some(LOCAL) {
                let at = self.place(section, "name");
                let message = "\"local\" is the embedded model's name";
                self.complain(at, section.shown("name"), message, "choose another name");
            }
            providers.push(self.provider(section, limits));
        }
        providers
    }

    fn provider(&mut self, section: &Section, limits: &Limits) -> Provider {
        let preset = self.text(section, "preset").as_deref().and_then(Preset::find);
        let dialect = self.or_preset(section, "dialect", preset.map(|preset| preset.dialect.name()));
        let base_url = self.or_preset(section, "base_url", preset.map(|preset| preset.base_url));
        let base_url = base_url.trim_end_matches('/').to_owned();
        let api_key = self.text(section, "api_key").map(Secret::new);
        let headers = match self.value(section, "headers") {
            Some(Value::Map(map)) => map,
            _ => Vec::new(),
        };
        let sets_authorization = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        if api_key.is_some() && sets_authorization {
            let at = self.place(section, "headers");
            let message = "`authorization` is what `api_key` sets";
            self.complain(at, section.shown("headers"), message, "keep one of the two");
        }
        if api_key.is_some() && base_url.starts_with("http://") && !near(&base_url) {
            let at = self.place(section, "base_url");
            let message = "the credential crosses the network unencrypted";
            self.warn(at, section.shown("base_url"), message, "use https:// where the upstream has it");
        }
        let timeouts = self.only(section, "timeouts");
        let paths = self.only(section, "paths");
        Provider {
            name: self.text(section, "name").unwrap_or_default(),
            dialect: match dialect.as_str() {
                "responses" => Dialect::Responses,
                "messages" => Dialect::Messages,
                "completions" => Dialect::Completions,
                _ => Dialect::Chat,
            },
            base_url,
            api_key,
            headers: headers.into_iter().map(|(name, value)| (name, Secret::new(value))).collect(),
            organization: self.text(section, "organization"),
            project: self.text(section, "project"),
            timeouts: Timeouts {
                connect: self.duration(&timeouts, "connect").unwrap_or(limits.timeouts.connect),
                first_byte: self.duration(&timeouts, "first_byte").unwrap_or(limits.timeouts.first_byte),
                idle: self.duration(&timeouts, "idle").unwrap_or(limits.timeouts.idle),
            },
            retries: self.number(section, "retries").unwrap_or(limits.retries),
            proxy: self.text(section, "proxy").map(Secret::new),
            ca_file: self.path(section, "ca_file"),
            tls_roots: match self.text(section, "tls_roots").as_deref() {
                Some("system") => TlsRoots::System,
                _ => TlsRoots::Webpki,
            },
            paths: Paths {
                chat: self.text(&paths, "chat"),
                responses: self.text(&paths, "responses"),
                messages: self.text(&paths, "messages"),
                completions: self.text(&paths, "completions"),
                models: self.text(&paths, "models"),
            },
            quirks: self.quirks(&self.only(section, "quirks"), preset),
        }
    }

    /// A key's value, the preset's, or a complaint that one of both is needed.
    fn or_preset(&mut self, section: &Section, name: &'static str, preset: Option<&str>) -> String {
        if let Some(text) = self.text(section, name) {
            return text;
        }
        if let Some(text) = preset {
            return text.to_owned();
        }
        // A broken value here, or a broken preset, was complained about where it stands.
        if !section.present.contains(name) && !section.present.contains("preset") {
            let help = format!("add `{name}`, or `preset` for a known place");
            self.complain(section.at, section.shown(name), "is missing", help);
        }
        String::new()
    }

    fn quirks(&self, section: &Section, preset: Option<&Preset>) -> Quirks {
        let preset = preset.map(Preset::quirks).unwrap_or_default();
        let word = |name| self.text(section, name);
        let max_tokens = word("max_tokens_field").map(|word| match word.as_str() {
            "max_tokens" => MaxTokensField::MaxTokens,
            _ => MaxTokensField::MaxCompletionTokens,
        });
        let reasoning = word("reasoning_field").map(|word| match word.as_str() {
            "reasoning" => ReasoningField::Reasoning,
            _ => ReasoningField::ReasoningContent,
        });
        let role = word("system_role").map(|word| match word.as_str() {
            "system" => SystemRole::System,
            _ => SystemRole::Developer,
        });
        Quirks {
            max_tokens_field: max_tokens.or(preset.max_tokens_field),
            reasoning_field: reasoning.or(preset.reasoning_field),
            system_role: role.or(preset.system_role),
            drop_fields: self.list(section, "drop_fields").unwrap_or(preset.drop_fields),
        }
    }
}

/// Whether a URL's host is this machine.
fn near(url: &str) -> bool {
    let uri: Option<http::Uri> = url.parse().ok();
    let host = uri.as_ref().and_then(http::Uri::host).unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
