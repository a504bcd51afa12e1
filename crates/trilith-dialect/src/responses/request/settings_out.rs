//! Everything of a turn that is no item, toward an upstream.

use trilith_core::{
    DialectId, Effort, Error, Json, Loss, OutputFormat, Settings, TextFormat, Truncation, Verbosity,
};

use crate::{
    Capabilities,
    hints::unplaced,
    responses::object::{Object, write_list},
    scan::write_string,
    user_id,
};

/// Fields of the state that Trilith holds itself, and of the connection: never an upstream's.
const OURS: [&str; 4] = ["background_options", "generate", "stream_id", "type"];

/// Where this wire's temperatures end.
const HOTTEST: u8 = 2;

/// Why a setting is lost. Open Responses has some of these fields and OpenAI has not.
const NO_FIELD: &str = "not every Responses upstream has such a field; it was left out";

/// Writes the settings that an upstream takes as they are, and says what it cannot take.
pub(super) fn write(
    object: &mut Object<'_>,
    settings: &Settings,
    can: &Capabilities,
    carries_reasoning: bool,
    losses: &mut Vec<Loss>,
) -> Result<(), Error> {
    write_sampling(object, settings, can, losses)?;
    if let Some(limit) = can.most_tokens(settings.limits, losses) {
        object.int("max_output_tokens", limit);
    }
    let effort = can.effort(&settings.reasoning, losses);
    write_reasoning(object, settings, effort);
    write_text(object, settings, losses);
    if let Some(truncation) = settings.truncation {
        object.str(
            "truncation",
            match truncation {
                Truncation::Auto => "auto",
                Truncation::Disabled => "disabled",
            },
        );
    }
    let reasons = carries_reasoning || effort.is_some_and(|effort| effort != Effort::None);
    write_include(object, settings, reasons);
    if let Some(pairs) = &settings.metadata {
        write_metadata(object.key("metadata"), pairs);
    }
    if let Some(user) = &settings.safety_identifier {
        object.str("safety_identifier", &user_id::fitted("safety_identifier", user, losses));
    }
    object.opt_str("user", settings.user.as_deref());
    object.opt_str("prompt_cache_key", settings.prompt_cache_key.as_deref());
    object.opt_str("service_tier", settings.service_tier.as_deref());
    for field in settings.extra.of(DialectId::Responses) {
        if !field.name.contains('.') && !OURS.contains(&&*field.name) {
            object.raw(&field.name, field.value.as_str());
        }
    }
    foreign(settings, losses)
}

fn write_sampling(
    object: &mut Object<'_>,
    settings: &Settings,
    can: &Capabilities,
    losses: &mut Vec<Loss>,
) -> Result<(), Error> {
    let sampling = &settings.sampling;
    let drawn = can.sampling(sampling, HOTTEST, None, losses);
    if let Some(temperature) = drawn.temperature {
        object.float("temperature", temperature);
    }
    if let Some(top_p) = drawn.top_p {
        object.float("top_p", top_p);
    }
    if let Some(top) = sampling.top_logprobs {
        object.int("top_logprobs", top);
    }
    for (name, penalty) in
        [("presence_penalty", sampling.presence_penalty), ("frequency_penalty", sampling.frequency_penalty)]
    {
        if penalty.is_some_and(|penalty| penalty != 0.0) {
            losses.push(Loss::warn(name, NO_FIELD));
        }
    }
    for (name, set) in [
        ("seed", sampling.seed.is_some()),
        ("top_k", drawn.top_k.is_some()),
        ("min_p", sampling.min_p.is_some()),
    ] {
        if set {
            losses.push(Loss::warn(name, NO_FIELD));
        }
    }
    if !sampling.stop.is_empty() {
        losses.push(Loss::emulate("stop", "the upstream has no stop strings; Trilith cuts the text itself"));
    }
    if sampling.n.is_some_and(|n| n > 1) {
        let why = "The model behind this request gives one answer at a time: leave out 'n' or set it to 1.";
        return Err(Error::bad_request("n", why).with_code("unsupported_parameter"));
    }
    if sampling.logit_bias.as_ref().is_some_and(has_members) {
        let why = "The model behind this request takes no 'logit_bias': leave it out.";
        return Err(Error::bad_request("logit_bias", why).with_code("unsupported_parameter"));
    }
    Ok(())
}

fn has_members(json: &Json) -> bool {
    json.as_str().bytes().any(|byte| byte == b':')
}

fn write_reasoning(object: &mut Object<'_>, settings: &Settings, effort: Option<Effort>) {
    let reasoning = &settings.reasoning;
    let extra = || inner_extra(settings, "reasoning.");
    let set = effort.is_some()
        || reasoning.summary.is_some()
        || reasoning.context.is_some()
        || reasoning.mode.is_some()
        || extra().next().is_some();
    if !set {
        return;
    }
    let mut inner = Object::open(object.key("reasoning"));
    inner.opt_str("effort", effort.map(Effort::name));
    inner.opt_str("summary", reasoning.summary.as_deref());
    inner.opt_str("context", reasoning.context.as_deref());
    inner.opt_str("mode", reasoning.mode.as_deref());
    for (name, value) in extra() {
        inner.raw(name, value.as_str());
    }
    inner.close();
}

fn inner_extra<'s>(settings: &'s Settings, outer: &'s str) -> impl Iterator<Item = (&'s str, &'s Json)> {
    settings
        .extra
        .of(DialectId::Responses)
        .filter_map(move |field| Some((field.name.strip_prefix(outer)?, &field.value)))
}

fn write_text(object: &mut Object<'_>, settings: &Settings, losses: &mut Vec<Loss>) {
    let output = &settings.output;
    let extra = || inner_extra(settings, "text.");
    if output.format.is_none() && output.verbosity.is_none() && extra().next().is_none() {
        return;
    }
    let mut inner = Object::open(object.key("text"));
    if let Some(format) = &output.format {
        match format {
            TextFormat::JsonSchema(schema) if schema.name.is_none() => {
                let strict = crate::schema::strict_format(schema, losses);
                let format = TextFormat::JsonSchema(OutputFormat { strict, ..schema.clone() });
                write_format(inner.key("format"), &format, true);
            }
            format => write_format(inner.key("format"), format, true),
        }
    }
    inner.opt_str("verbosity", output.verbosity.map(verbosity_word));
    for (name, value) in extra() {
        inner.raw(name, value.as_str());
    }
    inner.close();
}

/// The word of this wire.
pub(in crate::responses) const fn verbosity_word(verbosity: Verbosity) -> &'static str {
    match verbosity {
        Verbosity::Low => "low",
        Verbosity::Medium => "medium",
        Verbosity::High => "high",
    }
}

/// `text.format`. An answer has every key.
pub(in crate::responses) fn write_format(out: &mut Vec<u8>, format: &TextFormat, request: bool) {
    let mut object = Object::open(out);
    match format {
        TextFormat::Text => object.str("type", "text"),
        TextFormat::JsonObject => object.str("type", "json_object"),
        TextFormat::JsonSchema(schema) => {
            object.str("type", "json_schema");
            object.str("name", schema.name.as_deref().unwrap_or("response"));
            if request {
                object.opt_str("description", schema.description.as_deref());
            } else {
                object.str_or_null("description", schema.description.as_deref());
            }
            object.raw("schema", schema.schema.as_ref().map_or(r#"{"type":"object"}"#, Json::as_str));
            match schema.strict {
                Some(strict) => object.bool("strict", strict),
                None if request => {}
                None => object.bool("strict", false),
            }
        }
    }
    object.close();
}

fn write_include(object: &mut Object<'_>, settings: &Settings, reasons: bool) {
    const ENCRYPTED: &str = "reasoning.encrypted_content";
    const LOGPROBS: &str = "message.output_text.logprobs";
    let mut include: Vec<&str> = settings.include.iter().map(|word| &**word).collect();
    // Nothing is stored upstream: without this the reasoning would be lost to the next turn.
    if reasons && !include.contains(&ENCRYPTED) {
        include.push(ENCRYPTED);
    }
    if settings.sampling.logprobs == Some(true) && !include.contains(&LOGPROBS) {
        include.push(LOGPROBS);
    }
    if !include.is_empty() {
        write_list(object.key("include"), include, write_string);
    }
}

/// Key-value pairs as an object.
pub(in crate::responses) fn write_metadata(out: &mut Vec<u8>, pairs: &[(Box<str>, Box<str>)]) {
    let mut object = Object::open(out);
    for (name, value) in pairs {
        object.str(name, value);
    }
    object.close();
}

/// Fields of other dialects: those that change what the answer means are refused, the others reported.
fn foreign(settings: &Settings, losses: &mut Vec<Loss>) -> Result<(), Error> {
    for field in settings.extra.foreign_to(DialectId::Responses) {
        let refuse = match &*field.name {
            "audio" => Some("spoken answers"),
            "modalities" => field.value.as_str().contains("audio").then_some("spoken answers"),
            "web_search_options" => Some("web search by this field; use a tool"),
            _ => None,
        };
        if let Some(what) = refuse {
            let why = format!("The model behind this request has no {what}: leave out '{}'.", field.name);
            return Err(Error::bad_request(field.name.clone(), why).with_code("unsupported_parameter"));
        }
        // Keeping answers is Trilith's own work, and it says itself when it does not.
        if !matches!(&*field.name, "modalities" | "store") {
            losses.push(unplaced(field, field.name.clone(), NO_FIELD));
        }
    }
    Ok(())
}
