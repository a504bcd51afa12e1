//! What a request says besides items and tools.

use trilith_core::{
    DialectId, Effort, Error, OutputFormat, OutputSettings, ReasoningSettings, Settings, TextFormat,
    Truncation, Verbosity,
};

use crate::{responses::field::Field, tape::Kind};

/// The words of `include` (openai-checklist §4.1).
const INCLUDE: [&str; 8] = [
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
];

const TIERS: [&str; 7] = ["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"];

/// Fields that are read, here and beside; the others ride along.
const KNOWN: [&str; 26] = [
    "model",
    "input",
    "instructions",
    "previous_response_id",
    "conversation",
    "store",
    "background",
    "stream",
    "stream_options",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "max_tool_calls",
    "temperature",
    "top_p",
    "top_logprobs",
    "max_output_tokens",
    "reasoning",
    "text",
    "truncation",
    "include",
    "metadata",
    "safety_identifier",
    "user",
    "prompt_cache_key",
    "service_tier",
];

/// Open Responses has these two beyond OpenAI's request type; OpenAI echoes them.
const PENALTIES: [&str; 2] = ["presence_penalty", "frequency_penalty"];

pub(super) fn decode(root: &Field<'_, '_>, settings: &mut Settings) -> Result<(), Error> {
    settings.sampling.temperature = root.opt_f64("temperature", 0.0, 2.0)?;
    settings.sampling.top_p = root.opt_f64("top_p", 0.0, 1.0)?;
    settings.sampling.presence_penalty = root.opt_f64(PENALTIES[0], -2.0, 2.0)?;
    settings.sampling.frequency_penalty = root.opt_f64(PENALTIES[1], -2.0, 2.0)?;
    settings.sampling.top_logprobs = root.opt_u64("top_logprobs", 0, 20)?.and_then(|n| u32::try_from(n).ok());
    settings.limits.max_output_tokens = root.opt_u64("max_output_tokens", 1, u64::MAX)?;
    settings.truncation = match root.opt_text("truncation")?.as_deref() {
        None => None,
        Some("auto") => Some(Truncation::Auto),
        Some("disabled") => Some(Truncation::Disabled),
        Some(word) => return Err(root.need("truncation")?.unsupported(word, &["auto", "disabled"])),
    };
    settings.include = include(root)?;
    if settings.include.iter().any(|word| &**word == "message.output_text.logprobs") {
        settings.sampling.logprobs = Some(true);
    }
    reasoning(root, settings)?;
    text(root, settings)?;
    settings.metadata = metadata(root)?;
    settings.safety_identifier = root.opt_box("safety_identifier")?;
    settings.user = root.opt_box("user")?;
    settings.prompt_cache_key = root.opt_box("prompt_cache_key")?;
    settings.service_tier = word_of(root, "service_tier", &TIERS)?;
    for (name, kind) in [("prompt", Kind::Object), ("context_management", Kind::Array)] {
        if let Some(field) = root.get(name).filter(|field| field.value.kind() != kind) {
            return Err(field.expected(kind.name()));
        }
    }
    word_of(root, "prompt_cache_retention", &["in_memory", "in-memory", "24h"])?;
    for (name, value) in root.value.members() {
        if !value.is_null() && !KNOWN.contains(&&*name) && !PENALTIES.contains(&&*name) {
            settings.extra.push(DialectId::Responses, &*name, value.json());
        }
    }
    Ok(())
}

/// A word of a closed set.
fn word_of(field: &Field<'_, '_>, name: &str, known: &[&str]) -> Result<Option<Box<str>>, Error> {
    let Some(field) = field.get(name) else { return Ok(None) };
    let word = field.text()?;
    if known.contains(&&*word) { Ok(Some(word.into())) } else { Err(field.unsupported(&word, known)) }
}

fn include(root: &Field<'_, '_>) -> Result<Vec<Box<str>>, Error> {
    let Some(field) = root.get("include") else { return Ok(Vec::new()) };
    field
        .list()?
        .map(|word| {
            let text = word.text()?;
            if INCLUDE.contains(&&*text) { Ok(text.into()) } else { Err(word.unsupported(&text, &INCLUDE)) }
        })
        .collect()
}

fn reasoning(root: &Field<'_, '_>, settings: &mut Settings) -> Result<(), Error> {
    let Some(field) = root.get("reasoning") else { return Ok(()) };
    field.object()?;
    let summaries = ["auto", "concise", "detailed"];
    let effort =
        match field.opt_text("effort")? {
            None => None,
            Some(word) => Some(Effort::parse(&word).ok_or(word).or_else(|word| {
                Err(field.need("effort")?.unsupported(&word, &Effort::ALL.map(Effort::name)))
            })?),
        };
    settings.reasoning = ReasoningSettings {
        effort,
        budget_tokens: None,
        summary: match word_of(&field, "summary", &summaries)? {
            Some(summary) => Some(summary),
            None => word_of(&field, "generate_summary", &summaries)?,
        },
        context: word_of(&field, "context", &["auto", "current_turn", "all_turns"])?,
        mode: field.opt_box("mode")?,
    };
    let known = ["effort", "summary", "generate_summary", "context", "mode"];
    keep_inner(&field, "reasoning", &known, settings);
    Ok(())
}

/// Unknown members of an object ride along under the joined name.
fn keep_inner(field: &Field<'_, '_>, outer: &str, known: &[&str], settings: &mut Settings) {
    for (name, value) in field.value.members() {
        if !value.is_null() && !known.contains(&&*name) {
            settings.extra.push(DialectId::Responses, format!("{outer}.{name}"), value.json());
        }
    }
}

fn text(root: &Field<'_, '_>, settings: &mut Settings) -> Result<(), Error> {
    let Some(field) = root.get("text") else { return Ok(()) };
    field.object()?;
    let verbosity = match word_of(&field, "verbosity", &["low", "medium", "high"])?.as_deref() {
        None => None,
        Some("low") => Some(Verbosity::Low),
        Some("high") => Some(Verbosity::High),
        Some(_) => Some(Verbosity::Medium),
    };
    let format = match field.get("format") {
        Some(format) => Some(text_format(&format)?),
        None => None,
    };
    settings.output = OutputSettings { format, verbosity };
    keep_inner(&field, "text", &["format", "verbosity"], settings);
    Ok(())
}

fn text_format(field: &Field<'_, '_>) -> Result<TextFormat, Error> {
    field.object()?;
    let word = field.need("type")?;
    match &*word.text()? {
        "text" => Ok(TextFormat::Text),
        "json_object" => Ok(TextFormat::JsonObject),
        "json_schema" => {
            if field.get("json_schema").is_some() && field.get("schema").is_none() {
                let why = "Missing required parameter: 'text.format.schema'. This dialect puts name and \
                           schema beside type, not below json_schema.";
                return Err(
                    Error::bad_request("text.format.schema", why).with_code("missing_required_parameter")
                );
            }
            let name = field.need("name")?;
            let legal = |text: &str| {
                (1..=64).contains(&text.len())
                    && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
            };
            if !legal(&name.text()?) {
                let why = "expected 1 to 64 characters of a-z, A-Z, 0-9, _ and -";
                return Err(name.wrong(why, "invalid_value"));
            }
            let schema = field.need("schema")?;
            schema.object()?;
            Ok(TextFormat::JsonSchema(OutputFormat {
                name: Some(name.text()?.into()),
                description: field.opt_text("description")?.map(Into::into),
                schema: Some(schema.value.json()),
                strict: field.opt_bool("strict")?,
            }))
        }
        other => Err(word.unsupported(other, &["text", "json_object", "json_schema"])),
    }
}

/// Key-value pairs in their order.
type Pairs = Vec<(Box<str>, Box<str>)>;

/// At most 16 pairs, keys of at most 64 and values of at most 512 characters (openai-checklist T12).
fn metadata(root: &Field<'_, '_>) -> Result<Option<Pairs>, Error> {
    let Some(field) = root.get("metadata") else { return Ok(None) };
    field.object()?;
    let mut pairs = Vec::new();
    for (name, value) in field.value.members() {
        let shown: String = name.chars().take(64).collect();
        if pairs.len() == 16 {
            return Err(field.wrong("expected at most 16 pairs", "object_above_max_properties"));
        }
        if name.chars().count() > 64 {
            let why = format!("the key '{shown}…' is longer than 64 characters");
            return Err(field.wrong(&why, "property_name_above_max_length"));
        }
        let Some(text) = value.string() else {
            let why = format!(
                "Invalid type for 'metadata.{shown}': expected a string, but got {} instead.",
                value.kind().name()
            );
            return Err(Error::bad_request(format!("metadata.{shown}"), why).with_code("invalid_type"));
        };
        if text.chars().count() > 512 {
            let why = format!("the value of '{shown}' is longer than 512 characters");
            return Err(field.wrong(&why, "string_above_max_length"));
        }
        pairs.push((name.into(), text.into()));
    }
    Ok(Some(pairs))
}
