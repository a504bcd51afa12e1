//! `trilith models`.

use crate::{
    check,
    cli::ConfigOptions,
    config::Flags,
    places,
    say::{self, Failure},
};

/// Lists what callers can name, then what each provider says it has.
pub(crate) fn run(options: &ConfigOptions) -> Result<(), Failure> {
    let loaded = check::load(options, &Flags::default())?;
    let config = &loaded.config;
    if config.models.is_empty() {
        say::note("no [[models]] are configured; callers can name none");
    }
    for model in &config.models {
        let targets: Vec<String> =
            model.targets.iter().map(|target| format!("{}/{}", target.provider, target.model)).collect();
        say::out(&format!("{}  ->  {}", model.name, targets.join(", ")));
    }
    let places = places::open(config, &places::environment_proxies()?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        for provider in &config.providers {
            let Some(place) = places.get(provider.name.as_str()) else { continue };
            match place.models().await {
                Ok(names) => names.iter().for_each(|name| say::out(&format!("{}/{name}", provider.name))),
                Err(error) => say::note(&format!("{}: {error}", provider.name)),
            }
        }
    });
    Ok(())
}
