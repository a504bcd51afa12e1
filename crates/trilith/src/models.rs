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
        say::note(
            "no [[models]] are configured, so that callers can name none; see `trilith config --sample`",
        );
    }
    for model in &config.models {
        let targets: Vec<String> =
            model.targets.iter().map(|target| format!("{}/{}", target.provider, target.model)).collect();
        say::out(&format!("{}  ->  {}", model.name, targets.join(", ")));
    }
    let places = places::open(config, &places::environment_proxies()?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let silent = runtime.block_on(async {
        let mut silent = 0;
        for provider in &config.providers {
            let Some(place) = places.get(provider.name.as_str()) else { continue };
            match place.models().await {
                Ok(names) => names.iter().for_each(|name| say::out(&format!("{}/{name}", provider.name))),
                Err(error) => {
                    silent += 1;
                    say::note(&format!("{} ({}): {error}", provider.name, provider.base_url));
                }
            }
        }
        silent
    });
    match silent {
        0 => Ok(()),
        _ => {
            Err(format!("{silent} of {} providers did not list their models", config.providers.len()).into())
        }
    }
}
