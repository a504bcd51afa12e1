//! Everything of a request that is neither message nor tool, checked against its range.

use trilith_core::{DialectId, Effort, Error, Json, OutputFormat, Settings, TextFormat, Verbosity};

use super::wire::{JsonSchema, Request, ResponseFormat};
use crate::{
    chat::object::{invalid, json, missing},
    is_legal,
    scan::Kind,
    values::{count, range, stops, unknown_word},
};

const MAX_CHOICES: u64 = 128;
const MAX_TOP_LOGPROBS: u64 = 20;
const MAX_PAIRS: usize = 16;
const MAX_PAIR_KEY: usize = 64;
const MAX_PAIR_VALUE: usize = 512;
const TIERS: [&str; 6] = ["auto", "default", "flex", "scale", "priority", "fast"];

/// Members that no other dialect shares, with the kind of value they take.
const OWN_MEMBERS: [(&str, Kind, &str); 6] = [
    ("modalities", Kind::Array, "an array of strings"),
    ("audio", Kind::Object, "an object"),
    ("prediction", Kind::Object, "an object"),
    ("web_search_options", Kind::Object, "an object"),
    ("prompt_cache_options", Kind::Object, "an object"),
    ("moderation", Kind::Object, "an object"),
];

pub(super) fn decode(request: &mut Request<'_>, settings: &mut Settings) -> Result<(), Error> {
    sampling(request, settings)?;
    limits(request, settings)?;
    output(request, settings)?;
    identity(request, settings)?;
    for (name, value) in &request.rest {
        let Some((_, kind, what)) = OWN_MEMBERS.iter().find(|(own, ..)| *own == &**name) else { continue };
        let found = Kind::of_first(value.get().bytes().next().unwrap_or_default());
        if found != Kind::Null && found != *kind {
            return Err(invalid(name, format!("Invalid type for '{name}': expected {what}.")));
        }
    }
    Ok(())
}

fn sampling(request: &mut Request<'_>, settings: &mut Settings) -> Result<(), Error> {
    let small = |value: Option<u64>| value.and_then(|value| u32::try_from(value).ok());
    let sampling = &mut settings.sampling;
    sampling.temperature = range("temperature", request.temperature, 0.0, 2.0)?;
    sampling.top_p = range("top_p", request.top_p, 0.0, 1.0)?;
    sampling.min_p = range("min_p", request.min_p, 0.0, 1.0)?;
    // Servers that know it take −1 and 0 for "off", which is the same as silence.
    sampling.top_k = request.top_k.filter(|k| *k > 0).and_then(|k| u32::try_from(k).ok());
    sampling.presence_penalty = range("presence_penalty", request.presence_penalty, -2.0, 2.0)?;
    sampling.frequency_penalty = range("frequency_penalty", request.frequency_penalty, -2.0, 2.0)?;
    sampling.seed = request.seed;
    sampling.n = small(count("n", request.n, 1, MAX_CHOICES)?);
    sampling.logprobs = request.logprobs;
    sampling.top_logprobs = small(count("top_logprobs", request.top_logprobs, 0, MAX_TOP_LOGPROBS)?);
    if sampling.top_logprobs.is_some() && sampling.logprobs != Some(true) {
        let text = "'top_logprobs' is only allowed when 'logprobs' is true.";
        return Err(invalid("top_logprobs", text));
    }
    if let Some(bias) = request.logit_bias {
        if !bias.get().starts_with('{') {
            return Err(invalid("logit_bias", "Invalid type for 'logit_bias': expected an object."));
        }
        sampling.logit_bias = Some(json(bias));
    }
    sampling.stop = stops(request.stop.take())?;
    Ok(())
}

fn limits(request: &Request<'_>, settings: &mut Settings) -> Result<(), Error> {
    let new = count("max_completion_tokens", request.max_completion_tokens, 1, u64::MAX)?;
    let old = count("max_tokens", request.max_tokens, 1, u64::MAX)?;
    if let (Some(new), Some(old)) = (new, old)
        && new != old
    {
        let text = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
        return Err(Error::bad_request("max_tokens", text).with_code("invalid_parameter_combination"));
    }
    settings.limits.max_output_tokens = new.or(old);
    Ok(())
}

fn output(request: &mut Request<'_>, settings: &mut Settings) -> Result<(), Error> {
    if let Some(word) = &request.reasoning_effort {
        settings.reasoning.effort = Some(Effort::parse(word).ok_or_else(|| {
            let known: Vec<&str> = Effort::ALL.into_iter().map(Effort::name).collect();
            unknown_word("reasoning_effort", word, &known)
        })?);
    }
    settings.output.verbosity = match request.verbosity.as_deref() {
        None => None,
        Some("low") => Some(Verbosity::Low),
        Some("medium") => Some(Verbosity::Medium),
        Some("high") => Some(Verbosity::High),
        Some(word) => return Err(unknown_word("verbosity", word, &["low", "medium", "high"])),
    };
    if let Some(format) = request.response_format.take() {
        settings.output.format = Some(response_format(format)?);
    }
    Ok(())
}

fn response_format(format: ResponseFormat<'_>) -> Result<TextFormat, Error> {
    let kind = format.kind.ok_or_else(|| missing("response_format.type"))?;
    match &*kind {
        "text" => Ok(TextFormat::Text),
        "json_object" => Ok(TextFormat::JsonObject),
        "json_schema" => {
            let schema = format.json_schema.ok_or_else(|| missing("response_format.json_schema"))?;
            json_schema(schema).map(TextFormat::JsonSchema)
        }
        word => Err(unknown_word("response_format.type", word, &["text", "json_object", "json_schema"])),
    }
}

fn json_schema(wire: JsonSchema<'_>) -> Result<OutputFormat, Error> {
    let at = "response_format.json_schema";
    let name = wire.name.ok_or_else(|| missing("response_format.json_schema.name"))?;
    if !is_legal(&name) {
        return Err(illegal_name(&format!("{at}.name")));
    }
    let schema: Option<Json> = wire.schema.map(json);
    if schema.as_ref().is_some_and(|schema| !schema.as_str().starts_with('{')) {
        let param = format!("{at}.schema");
        return Err(invalid(&param, format!("Invalid type for '{param}': expected an object.")));
    }
    let strict = Some(wire.strict.unwrap_or(false));
    Ok(OutputFormat { name: Some(name), description: wire.description, schema, strict })
}

fn identity(request: &mut Request<'_>, settings: &mut Settings) -> Result<(), Error> {
    if let Some(pairs) = request.metadata.take() {
        let pairs = pairs.0;
        let too_long = pairs
            .iter()
            .any(|(key, value)| key.chars().count() > MAX_PAIR_KEY || value.chars().count() > MAX_PAIR_VALUE);
        if pairs.len() > MAX_PAIRS || too_long {
            let text = "Invalid 'metadata': expected at most 16 pairs, keys of at most 64 and values of at \
                        most 512 characters.";
            return Err(invalid("metadata", text));
        }
        settings.metadata = Some(pairs);
    }
    if let Some(tier) = request.service_tier.as_deref()
        && !TIERS.contains(&tier)
    {
        return Err(unknown_word("service_tier", tier, &TIERS));
    }
    settings.service_tier = request.service_tier.take();
    settings.safety_identifier = request.safety_identifier.take();
    settings.user = request.user.take();
    settings.prompt_cache_key = request.prompt_cache_key.take();
    // Asked for aloud, keeping is the business of an upstream that speaks this dialect.
    if request.store == Some(true) {
        settings.extra.push(DialectId::Chat, "store", Json::from_checked("true"));
    }
    Ok(())
}

pub(super) fn illegal_name(param: &str) -> Error {
    invalid(
        param,
        format!(
            "Invalid '{param}': expected 1 to 64 letters, digits, underscores or dashes (^[a-zA-Z0-9_-]+$)."
        ),
    )
}
