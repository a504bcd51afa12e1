//! What a response says about its own request. It is the same in every event, so a stream renders it once.

use trilith_core::{DialectId, Effort, Instructions, Response, Settings, TextFormat, Truncation};

use crate::responses::{
    item::{View, write_item},
    object::{Object, write_list},
    request::{verbosity_word, write_format, write_metadata},
    tool::{write_choice, write_tool},
};

/// Fields of a request that a response repeats as they came (openai-checklist §5).
const REPEATED: [&str; 4] = ["prompt", "prompt_cache_options", "prompt_cache_retention", "image"];

/// Writes the members (no braces): every key that any of the published types asks for, with the values in
/// force.
pub(super) fn write(out: &mut Vec<u8>, response: &Response) {
    let settings = &*response.settings;
    let mut object = Object::resume(out, true);
    object.bool("background", response.background);
    object.raw("access_programs", "null");
    if let Some(conversation) = &response.conversation {
        let mut inner = Object::open(object.key("conversation"));
        inner.str("id", conversation);
        inner.close();
    }
    match &settings.instructions {
        None => object.raw("instructions", "null"),
        Some(Instructions::Text(text)) => object.str("instructions", text),
        Some(Instructions::Items(items)) => {
            write_list(object.key("instructions"), items, |out, item| {
                write_item(out, item, &View { id: item.id.as_deref(), ..View::default() });
            });
        }
    }
    object.int_or_null("max_output_tokens", settings.limits.max_output_tokens);
    object.int_or_null("max_tool_calls", settings.max_tool_calls);
    write_metadata(object.key("metadata"), settings.metadata.as_deref().unwrap_or_default());
    object.str("model", &settings.model);
    object.bool("parallel_tool_calls", settings.parallel_tool_calls.unwrap_or(true));
    object.str_or_null("previous_response_id", response.previous_response_id.as_deref());
    object.str_or_null("prompt_cache_key", settings.prompt_cache_key.as_deref());
    write_reasoning(&mut object, settings);
    object.str_or_null("safety_identifier", settings.safety_identifier.as_deref());
    object.bool("store", response.store);
    write_sampling(&mut object, settings);
    write_text(&mut object, settings);
    match &settings.tool_choice {
        Some(choice) => write_choice(object.key("tool_choice"), choice),
        None => object.str("tool_choice", "auto"),
    }
    write_list(object.key("tools"), &settings.tools, |out, tool| write_tool(out, tool, false));
    object.str(
        "truncation",
        match settings.truncation {
            Some(Truncation::Auto) => "auto",
            Some(Truncation::Disabled) | None => "disabled",
        },
    );
    object.str_or_null("user", settings.user.as_deref());
    for name in REPEATED {
        if let Some(value) = settings.extra.get(DialectId::Responses, name) {
            object.raw(name, value.as_str());
        }
    }
}

fn write_sampling(object: &mut Object<'_>, settings: &Settings) {
    let sampling = &settings.sampling;
    object.float("presence_penalty", sampling.presence_penalty.unwrap_or(0.0));
    object.float("frequency_penalty", sampling.frequency_penalty.unwrap_or(0.0));
    object.float("temperature", sampling.temperature.unwrap_or(1.0));
    object.int("top_logprobs", sampling.top_logprobs.unwrap_or(0));
    object.float("top_p", sampling.top_p.unwrap_or(1.0));
}

fn write_reasoning(object: &mut Object<'_>, settings: &Settings) {
    let reasoning = &settings.reasoning;
    let mut inner = Object::open(object.key("reasoning"));
    inner.str_or_null("effort", reasoning.effort.map(Effort::name));
    inner.str_or_null("summary", reasoning.summary.as_deref());
    inner.opt_str("context", reasoning.context.as_deref());
    inner.opt_str("mode", reasoning.mode.as_deref());
    inner.close();
}

fn write_text(object: &mut Object<'_>, settings: &Settings) {
    let mut inner = Object::open(object.key("text"));
    let format = settings.output.format.as_ref().unwrap_or(&TextFormat::Text);
    write_format(inner.key("format"), format, false);
    inner.str("verbosity", settings.output.verbosity.map_or("medium", verbosity_word));
    inner.close();
}
