//! Everything of a request that is neither message nor tool, checked against its range.

use trilith_core::{Effort, Error, Json, OutputFormat, Settings, TextFormat};

use super::{
    METADATA_PREFIX, OUTPUT_PREFIX, THINKING,
    decode::{OWN, Version},
    object::{invalid, json, keep, missing, parse_at, unknown_word},
    wire::{Format, Request, ThinkingConfig},
};
use crate::json::text_json;

const EFFORTS: [Effort; 5] = [Effort::Low, Effort::Medium, Effort::High, Effort::Xhigh, Effort::Max];
const TIERS: [&str; 2] = ["auto", "standard_only"];
const DISPLAYS: [&str; 3] = ["summarized", "omitted", "updates"];
/// The least that a thinking budget may be, in tokens.
const LEAST_BUDGET: u64 = 1024;

pub(super) fn decode(
    request: &mut Request<'_>,
    version: Version,
    settings: &mut Settings,
) -> Result<(), Error> {
    // No output at all is legal: it fills the cache.
    settings.limits.max_output_tokens = request.max_tokens;
    sampling(request, version, settings)?;
    output(request, settings)?;
    thinking(request, settings)?;
    if let Some(metadata) = request.metadata.take() {
        settings.safety_identifier = metadata.user_id;
        keep(&mut settings.extra, METADATA_PREFIX, metadata.rest);
    }
    settings.service_tier = match request.service_tier.take() {
        None => None,
        // What is no better than standard is called `default` elsewhere.
        Some(tier) if &*tier == "standard_only" => Some("default".into()),
        Some(tier) if &*tier == "auto" => Some(tier),
        Some(tier) => return Err(unknown_word("service_tier", &tier, &TIERS)),
    };
    Ok(())
}

fn sampling(request: &mut Request<'_>, version: Version, settings: &mut Settings) -> Result<(), Error> {
    let there = [
        ("temperature", request.temperature.is_some()),
        ("top_p", request.top_p.is_some()),
        ("top_k", request.top_k.is_some()),
    ];
    if version == Version::Of2026
        && let Some((name, _)) = there.into_iter().find(|(_, there)| *there)
    {
        return Err(invalid(name, "Extra inputs are not permitted"));
    }
    for (name, value) in [("temperature", request.temperature), ("top_p", request.top_p)] {
        if value.is_some_and(|value| !(0.0..=1.0).contains(&value)) {
            return Err(invalid(name, "Input should be a number from 0 to 1"));
        }
    }
    settings.sampling.temperature = request.temperature;
    settings.sampling.top_p = request.top_p;
    settings.sampling.top_k = request.top_k;
    settings.sampling.stop = request.stop_sequences.take().unwrap_or_default();
    Ok(())
}

fn output(request: &mut Request<'_>, settings: &mut Settings) -> Result<(), Error> {
    let config = request.output_config.take().unwrap_or_default();
    if let Some(word) = config.effort {
        let known = Effort::parse(&word).filter(|effort| EFFORTS.contains(effort));
        let unknown = || unknown_word("output_config.effort", &word, &EFFORTS.map(Effort::name));
        settings.reasoning.effort = Some(known.ok_or_else(unknown)?);
    }
    // The older place of the same field.
    let format = match (config.format, request.output_format.take()) {
        (Some(format), _) => Some(("output_config.format", format)),
        (None, Some(format)) => Some(("output_format", format)),
        (None, None) => None,
    };
    if let Some((at, format)) = format {
        settings.output.format = Some(text_format(at, format)?);
    }
    keep(&mut settings.extra, OUTPUT_PREFIX, config.rest);
    Ok(())
}

fn text_format(at: &str, wire: Format<'_>) -> Result<TextFormat, Error> {
    match wire.kind.as_deref() {
        Some("json_schema") => {}
        Some(word) => return Err(unknown_word(&format!("{at}.type"), word, &["json_schema"])),
        None => return Err(missing(&format!("{at}.type"))),
    }
    let param = format!("{at}.schema");
    let schema = wire.schema.ok_or_else(|| missing(&param))?;
    if !schema.get().starts_with('{') {
        return Err(invalid(&param, "Input should be an object"));
    }
    Ok(TextFormat::JsonSchema(OutputFormat {
        name: None,
        description: None,
        schema: Some(json(schema)),
        // This wire knows no other.
        strict: Some(true),
    }))
}

fn thinking(request: &mut Request<'_>, settings: &mut Settings) -> Result<(), Error> {
    let Some(raw) = request.thinking.take() else {
        // On this wire an effort alone does not ask for thinking; on others it does.
        if settings.reasoning.effort.is_some() {
            settings.extra.push(OWN, THINKING, Json::from_checked("null"));
        }
        return Ok(());
    };
    let config: ThinkingConfig<'_> = parse_at(THINKING, raw)?;
    let kind = config.kind.ok_or_else(|| missing("thinking.type"))?;
    match &*kind {
        "adaptive" | "between_tools" => {}
        "disabled" => {
            // Turned off, the effort still says how much is written; settings have no place for both.
            if let Some(effort) = settings.reasoning.effort.replace(Effort::None) {
                settings.extra.push(OWN, format!("{OUTPUT_PREFIX}effort"), text_json(effort.name()));
            }
        }
        "enabled" => {
            let param = "thinking.budget_tokens";
            let budget = config.budget_tokens.ok_or_else(|| missing(param))?;
            if budget < LEAST_BUDGET {
                return Err(invalid(
                    param,
                    format!("Input should be greater than or equal to {LEAST_BUDGET}"),
                ));
            }
            if settings.limits.max_output_tokens.is_some_and(|most| budget >= most) {
                return Err(invalid("max_tokens", "must be greater than `thinking.budget_tokens`"));
            }
            settings.reasoning.budget_tokens = Some(budget);
        }
        word => {
            let known = ["adaptive", "enabled", "between_tools", "disabled"];
            return Err(unknown_word("thinking.type", word, &known));
        }
    }
    match config.display.as_deref() {
        Some("summarized" | "updates") => settings.reasoning.summary = Some("auto".into()),
        Some(word) if !DISPLAYS.contains(&word) => {
            return Err(unknown_word("thinking.display", word, &DISPLAYS));
        }
        _ => {}
    }
    settings.extra.push(OWN, THINKING, json(raw));
    Ok(())
}
