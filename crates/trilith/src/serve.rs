//! `trilith serve`: everything is opened, joined and run until the process is asked to end.

use std::{io::ErrorKind, path::PathBuf, sync::Arc, time::Duration};

use trilith_core::{Fetch, Pattern, Store};
use trilith_net::{FetchRules, Fetcher, Roots};
use trilith_ops::{
    Health, HealthPolicy, KeyEntry, KeySecret, Keys, Meter, ModelEntry, RetryPolicy, Router, Slots,
    TargetEntry, Traces,
};
use trilith_runtime::{LocalTools, Runtime};
use trilith_schema::JsonSchemas;
use trilith_server::{App, Limits, Listener, Offered, Workers};
use trilith_store::{EnvelopeSealer, OpenError, Sqlite, Sync};

use crate::{
    check,
    cli::ServeOptions,
    config::{Config, Flags, StoreUrl, Sync as ConfiguredSync},
    hints, logging,
    places::{self, Places},
    ports::{SystemClock, SystemIds, Tasks, unix_seconds},
    say::{self, Failure},
    worker,
};

/// Serves until the process is asked to end.
pub(crate) fn run(options: &ServeOptions) -> Result<(), Failure> {
    let flags =
        Flags { listen: options.listen.clone(), store: options.store.clone(), model: options.model.clone() };
    let config = check::load(&options.config, &flags)?.config;
    if config.keys.is_empty() && !config.loopback_only() {
        return Err(format!(
            "server.listen is {}, which others can reach, but no key is configured; \
             add a [[keys]] entry, or listen on 127.0.0.1",
            config.server.listen
        )
        .into());
    }
    logging::start(&config.log)?;
    // This thread takes connections and looks after the rest; the workers serve.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(serve(config))
}

async fn serve(config: Config) -> Result<(), Failure> {
    let tasks = Tasks::default();
    let store = open_store(&config)?;
    let ended = store.recover(unix_seconds()).await?;
    if ended > 0 {
        tracing::warn!(
            ended,
            "responses that were running when the last process stopped are marked as failed"
        );
    }
    let mut places = places::open(&config, &places::environment_proxies()?)?;
    open_local(&config, &mut places)?;
    let app = Arc::new(app(&config, Arc::clone(&store), places, &tasks)?);
    let api = listener(config.server.listen, "server.listen").await?;
    let admin = match config.server.admin_listen {
        Some(address) => Some(listener(address, "server.admin_listen").await?),
        None => None,
    };
    let workers = Workers::start(config.server.workers)?;
    announce(&config, &api, admin.as_ref())?;
    let sweeper = sweep(Arc::clone(&store));
    let whole = tokio::select! {
        whole = trilith_server::serve(app, &workers, api, admin, asked_to_end()) => whole,
        () = sweeper => false,
    };
    // Runs whose client left are still being written down.
    let written = tasks.drained(Duration::from_secs(5)).await;
    drop(workers);
    store.flush().await?;
    if !whole || !written {
        say::note("some requests were still running and were cut off");
    }
    Ok(())
}

fn announce(config: &Config, api: &Listener, admin: Option<&Listener>) -> Result<(), Failure> {
    let address = api.address()?;
    say::out(&format!("listening on http://{address}"));
    if let Some(admin) = admin {
        say::out(&format!("health, readiness and metrics on http://{}", admin.address()?));
    }
    if config.keys.is_empty() {
        say::note("no keys are configured: only programs on this machine are served");
    }
    if config.models.is_empty() {
        say::note("no models are configured: start with --model FILE.gguf, or see `trilith config --sample`");
    }
    if let Some(local) = &config.local {
        say::note(&hints::calls(address, &local.name, !config.keys.is_empty()));
    }
    Ok(())
}

async fn listener(address: std::net::SocketAddr, key: &str) -> Result<Listener, Failure> {
    Listener::bind(address).await.map_err(|error| {
        let next = match (error.kind(), key) {
            (std::io::ErrorKind::AddrInUse, "server.listen") => {
                "another process is there; name another port in server.listen or with --listen"
            }
            (std::io::ErrorKind::AddrInUse, _) => {
                "another process is there; name another port, or \"\" for no admin listener"
            }
            _ => "name an address of this machine and a port that this user may open",
        };
        format!("cannot listen on {address} ({key}): {error}\n  {next}").into()
    })
}

fn open_store(config: &Config) -> Result<Arc<Sqlite>, Failure> {
    let days = u32::try_from(config.store.retention.as_secs() / 86_400).unwrap_or(u32::MAX);
    let sync = match config.store.sync {
        ConfiguredSync::Full => Sync::Full,
        ConfiguredSync::Normal => Sync::Normal,
    };
    let store = match &config.store.url {
        StoreUrl::Sqlite(path) => Sqlite::open(path, sync, days).map_err(|error| {
            let place = format!("store.url is \"sqlite:{}\"", path.display());
            match error {
                OpenError::File(_, ref why) => {
                    format!("{error}\n  {place}; {} there or with --store", usable(why.kind()))
                }
                error => format!("{error}\n  {place}; --store names another"),
            }
        })?,
        StoreUrl::Memory => Sqlite::in_memory(days)?,
    };
    Ok(Arc::new(store))
}

/// What to do about a file that cannot be used.
const fn usable(why: ErrorKind) -> &'static str {
    match why {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "let this user write to the file and its folder, or name another file"
        }
        ErrorKind::IsADirectory => "that is a folder; name a file in it",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some room, or name a file on another disk",
        _ => "name a file in a folder that exists",
    }
}

/// The sealing key lies beside the database, so that the two are moved together.
fn open_sealer(config: &Config) -> Result<EnvelopeSealer, Failure> {
    let beside = |path: &PathBuf| path.with_extension("seal-key");
    let path = match (&config.seal.key_file, &config.store.url) {
        (Some(path), _) => path.clone(),
        (None, StoreUrl::Sqlite(path)) => beside(path),
        (None, StoreUrl::Memory) => return Ok(EnvelopeSealer::ephemeral()?),
    };
    Ok(EnvelopeSealer::from_file(&path)?)
}

fn app(config: &Config, store: Arc<Sqlite>, places: Places, tasks: &Tasks) -> Result<App, Failure> {
    let runtime = Runtime {
        store,
        sealer: Arc::new(open_sealer(config)?),
        clock: Arc::new(SystemClock::new()),
        ids: Arc::new(SystemIds::default()),
        spawn: Arc::new(tasks.clone()),
        schemas: Arc::new(JsonSchemas),
        documents: worker::documents(),
        fetch: open_fetch(config)?,
        local_tools: Arc::new(LocalTools::new(
            config.tools.iter().map(|tool| (tool.name.as_str(), tool.local_only)),
        )),
        max_choices: config.limits.max_choices,
        max_answer_bytes: config.limits.max_answer_bytes,
    };
    let keys = Keys::new(config.keys.iter().map(|key| KeyEntry {
        name: key.name.clone(),
        tenant: key.tenant.clone(),
        secret: KeySecret::Digest(key.digest),
        models: key.models.clone(),
        max_requests: key.max_requests,
        local_only: key.local_only,
    }))
    .map_err(|clash| format!("keys '{}' and '{}' are the same key", clash.first, clash.second))?;
    let router = Router::new(config.models.iter().map(|model| ModelEntry {
        name: model.name.clone(),
        targets: model.targets.iter().map(|target| target_entry(config, target)).collect(),
        strict: model.strict,
        local_only: model.local_only,
    }));
    let names: Vec<String> = places.keys().map(|name| name.to_string()).collect();
    Ok(App {
        runtime,
        open: config.keys.is_empty(),
        keys,
        health: Health::new(router.target_count(), HealthPolicy::default()),
        router,
        meter: Meter::new(names.iter().map(String::as_str), trilith_dialect::report::FIELDS.iter().copied()),
        upstreams: places,
        offered: Offered::default(),
        retry: RetryPolicy::default(),
        slots: Slots::new(config.limits.max_requests),
        traces: Traces::default(),
        limits: Limits {
            body_bytes: config.server.max_body_bytes,
            depth: config.server.max_depth,
            connections: config.server.max_concurrent,
            header_timeout: config.server.header_timeout,
            drain_timeout: config.server.drain_timeout,
        },
    })
}

/// What fetches for callers, where the configuration allows it.
fn open_fetch(config: &Config) -> Result<Option<Arc<dyn Fetch>>, Failure> {
    let Some(fetch) = &config.fetch else { return Ok(None) };
    let patterns = |names: &[String]| names.iter().map(|name| Pattern::new(name)).collect();
    let rules = FetchRules {
        hosts: patterns(&fetch.hosts),
        private_hosts: patterns(&fetch.private_hosts),
        ports: fetch.ports.clone(),
        plain: fetch.http,
        max_bytes: fetch.max_bytes,
        time: fetch.time,
        at_once: fetch.at_once,
    };
    Ok(Some(Arc::new(Fetcher::new(rules, Roots::default())?)))
}

fn target_entry(config: &Config, target: &crate::config::Target) -> TargetEntry {
    let provider = config.providers.iter().find(|provider| provider.name == target.provider);
    TargetEntry {
        provider: target.provider.clone(),
        model: target.model.clone(),
        retries: provider.map_or(0, |provider| provider.retries),
        local: target.local,
    }
}

#[cfg(feature = "local")]
fn open_local(config: &Config, places: &mut Places) -> Result<(), Failure> {
    use std::num::NonZeroU32;
    let Some(local) = &config.local else { return Ok(()) };
    let options = trilith_local::LoadOptions {
        context_tokens: local.context.and_then(NonZeroU32::new),
        threads: local.threads.and_then(NonZeroU32::new),
        ..trilith_local::LoadOptions::default()
    };
    let model = trilith_local::Model::load(&local.model, options)
        .map_err(|error| format!("the model {} cannot be used: {error}", local.model.display()))?;
    let upstream = trilith_local::Embedded::new(crate::config::LOCAL, model, Arc::new(SystemClock::new()));
    places.insert(crate::config::LOCAL.into(), Arc::new(upstream));
    Ok(())
}

#[cfg(not(feature = "local"))]
fn open_local(config: &Config, _: &mut Places) -> Result<(), Failure> {
    match &config.local {
        Some(_) => Err("this build has no embedded model; build it with the feature 'local'".into()),
        None => Ok(()),
    }
}

/// Gives back the space of responses past their time, for as long as the process serves.
async fn sweep(store: Arc<Sqlite>) {
    let mut pause = Duration::from_secs(60);
    loop {
        tokio::time::sleep(pause).await;
        pause = Duration::from_secs(60);
        match store.expire(unix_seconds()).await {
            Ok(expired) if expired.responses == 0 => {}
            Ok(expired) => {
                tracing::info!(responses = expired.responses, "responses past their time were removed");
                if expired.more {
                    pause = Duration::from_secs(1);
                }
            }
            Err(error) => tracing::warn!(%error, "responses past their time could not be removed"),
        }
    }
}

/// Resolves when the process is asked to end: by SIGTERM, or by Ctrl-C.
pub(crate) async fn asked_to_end() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => return,
                _ = tokio::signal::ctrl_c() => return,
            }
        }
    }
    tokio::signal::ctrl_c().await.ok();
}
