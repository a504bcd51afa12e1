//! A whole answer for a client (dialects §1.6).

use std::borrow::Cow;

use serde_json::value::RawValue;
use trilith_core::{
    Call, CallKind, Carrier, CarrierKind, DialectId, Item, ItemBody, Json, Message, PartKind, Reasoning,
    Response, Usage,
};

use super::{
    shown::{Form, answer_id, citation, form, stop_reason},
    usage,
};
use crate::messages::json::{List, Object};

/// What stands between two pieces of reasoning, which become one here.
pub(in crate::messages) const BREAK: &str = "\n\n";

pub(in crate::messages) fn encode(response: &Response, out: &mut Vec<u8>) {
    let mut object = Object::new(out);
    object.string("id", &answer_id(response));
    object.string("type", "message");
    object.string("role", "assistant");
    object.string("model", &response.settings.model);
    let mut content = object.list("content");
    for output in &response.output {
        match (form(output), &output.item.body) {
            (Form::Message, ItemBody::Message(message)) => write_message(message, &mut content),
            (Form::Reasoning, ItemBody::Reasoning(reasoning)) => write_reasoning(reasoning, &mut content),
            (Form::Call, ItemBody::Call(call)) => write_call(&output.item, call, &mut content),
            (Form::Block, ItemBody::Opaque(opaque)) => {
                content.item().extend_from_slice(opaque.json.as_str().as_bytes());
            }
            _ => {}
        }
    }
    content.end();
    let (word, matched) = stop_reason(response);
    object.string("stop_reason", word);
    match matched {
        Some(text) => object.string("stop_sequence", text),
        None => object.null("stop_sequence"),
    }
    for (name, json) in own_fields(response) {
        object.json(name, json);
    }
    let none = Usage::default();
    let tier = response.upstream.service_tier.as_deref();
    usage::write(response.usage.as_ref().unwrap_or(&none), tier, object.key("usage"));
    object.end();
}

/// Fields of the upstream's answer that only this dialect has a place for.
pub(in crate::messages) fn own_fields(response: &Response) -> impl Iterator<Item = (&str, &Json)> {
    response.upstream.extra.of(DialectId::Messages).map(|field| (&*field.name, &field.value))
}

fn write_message(message: &Message, out: &mut List<'_>) {
    for part in &message.parts {
        let (text, annotations): (&str, &[_]) = match &part.kind {
            PartKind::Text(text) => (&text.text, &text.annotations),
            PartKind::Refusal(refusal) => (refusal, &[]),
            _ => continue,
        };
        if text.is_empty() {
            continue;
        }
        let mut block = out.object();
        block.string("type", "text");
        block.string("text", text);
        let mut citations = annotations.iter().filter_map(citation).peekable();
        if citations.peek().is_some() {
            let mut list = block.list("citations");
            for json in citations {
                list.item().extend_from_slice(json.as_str().as_bytes());
            }
            list.end();
        }
        block.end();
    }
}

fn write_reasoning(reasoning: &Reasoning, out: &mut List<'_>) {
    let text = reasoning_text(reasoning);
    let (first, others) = signature(reasoning);
    if !text.is_empty() || first.is_some() {
        write_thinking(&text, first.unwrap_or_default(), out.item());
    }
    for carrier in others {
        write_carrier(carrier, out.item());
    }
}

/// The signature of the readable text, and the carriers that make blocks of their own: carriers are never merged.
pub(in crate::messages) fn signature(reasoning: &Reasoning) -> (Option<&str>, &[Carrier]) {
    match reasoning.carriers.split_first() {
        Some((first, others)) if first.kind != CarrierKind::Redacted => (Some(&first.data), others),
        _ => (None, &reasoning.carriers),
    }
}

/// Appends a carrier as a block of its own.
pub(in crate::messages) fn write_carrier(carrier: &Carrier, out: &mut Vec<u8>) {
    if carrier.kind != CarrierKind::Redacted {
        return write_thinking("", &carrier.data, out);
    }
    let mut block = Object::new(out);
    block.string("type", "redacted_thinking");
    block.string("data", &carrier.data);
    block.end();
}

/// All of the readable text.
pub(in crate::messages) fn reasoning_text(reasoning: &Reasoning) -> String {
    let texts = reasoning.summary.iter().chain(&reasoning.text).filter(|text| !text.is_empty());
    texts.map(String::as_str).collect::<Vec<_>>().join(BREAK)
}

fn write_thinking(text: &str, signature: &str, out: &mut Vec<u8>) {
    let mut block = Object::new(out);
    block.string("type", "thinking");
    block.string("thinking", text);
    block.string("signature", signature);
    block.end();
}

/// The begin of a call's block, up to its input.
pub(in crate::messages) fn call_head<'w>(call: &Call, out: &'w mut Vec<u8>) -> Object<'w> {
    let mut block = Object::new(out);
    block.string("type", "tool_use");
    block.string("id", call.call_id.as_deref().unwrap_or_default());
    let name = match &call.namespace {
        Some(namespace) => Cow::Owned(format!("{namespace}__{}", call.name)),
        None => Cow::Borrowed(&*call.name),
    };
    block.string("name", &name);
    block
}

fn write_call(item: &Item, call: &Call, out: &mut List<'_>) {
    let mut block = call_head(call, out.item());
    let wrapped;
    let args = if call.kind == CallKind::Custom {
        wrapped = crate::custom::wrap(&call.args);
        &wrapped
    } else {
        call.args.trim()
    };
    let is_object = args.starts_with('{') && serde_json::from_str::<&RawValue>(args).is_ok();
    match args {
        // A body has no place for a piece of JSON: arguments that were cut stay readable as a text.
        args if !is_object && !args.is_empty() => {
            let mut input = block.object("input");
            input.string("input", args);
            input.end();
        }
        "" => block.raw("input", "{}"),
        args => block.raw("input", args),
    }
    for field in item.extra.of(DialectId::Messages) {
        block.json(&field.name, &field.value);
    }
    block.end();
}
