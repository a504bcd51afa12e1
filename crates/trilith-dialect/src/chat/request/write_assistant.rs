//! What the model said, thought and called, on the way back to a model.

use trilith_core::{
    Call, CallKind, Carrier, CarrierKind, DialectId, Error, Item, Loss, Part, PartKind, Reasoning,
};

use super::{
    encode::Encoder,
    messages::MESSAGE_PREFIX,
    write_content::{Marks, text_part},
};
use crate::{
    chat::{
        json::{List, Object},
        response::carriers,
    },
    names::Wrap,
};

impl Encoder<'_> {
    /// What the model said: content, refusal and a reference to earlier sound.
    pub(super) fn said(
        &mut self,
        at: &str,
        parts: &[Part],
        calls: bool,
        marks: &mut Marks,
        out: &mut Object<'_>,
    ) -> Result<(), Error> {
        if !parts.is_empty() && parts.iter().all(|part| matches!(part.kind, PartKind::Text(_))) {
            return self.content(at, parts, marks, out.key("content"));
        }
        let mut texts = Vec::new();
        let mut refusal = None;
        let mut audio = None;
        for (number, part) in parts.iter().enumerate() {
            match &part.kind {
                PartKind::Text(_) => texts.push(part.clone()),
                PartKind::Refusal(text) if refusal.is_none() => refusal = Some(text),
                PartKind::Refusal(text) => texts.push(Part::text(text.as_str())),
                PartKind::Audio(said) => match (&said.id, &said.transcript) {
                    (Some(id), _) => audio = Some(id),
                    (None, Some(words)) => texts.push(Part::text(words.as_str())),
                    (None, None) => {}
                },
                kind => {
                    let why =
                        format!("an assistant's {} part, which Chat Completions cannot show", kind.name());
                    self.losses.push(Loss::warn(format!("{at}.content[{number}]"), why));
                }
            }
        }
        if texts.is_empty() && (calls || refusal.is_some() || audio.is_some()) {
            out.null("content");
        } else {
            self.content(at, &texts, marks, out.key("content"))?;
        }
        out.optional_string("refusal", refusal.map(String::as_str));
        if let Some(id) = audio {
            let mut reference = out.object("audio");
            reference.string("id", id);
            reference.end();
        }
        Ok(())
    }

    /// A part of a result. This wire takes text only here, so media follow in a message of their own.
    pub(super) fn result_part(
        &mut self,
        at: &str,
        part: &Part,
        media: &mut Vec<Part>,
        marks: &mut Marks,
        out: &mut Object<'_>,
    ) -> Result<(), Error> {
        match &part.kind {
            PartKind::Image(_) | PartKind::Audio(_) | PartKind::File(_) => {
                media.push(part.clone());
                text_part(&format!("[{} {} attached]", part.kind.name(), media.len()), out);
                self.losses.push(Loss::emulate(at, "sent in a user message after the tool results"));
                Ok(())
            }
            _ => self.part(at, part, marks, out),
        }
    }

    pub(super) fn call(&mut self, id: &str, item: &Item, call: &Call, out: &mut List<'_>) {
        let name = self.names.outward(call.namespace.as_deref(), &call.name);
        let custom = call.kind == CallKind::Custom && self.target.quirks.custom_tools;
        let (kind, args) = if custom { ("custom", "input") } else { ("function", "arguments") };
        let wrap = match call.kind {
            CallKind::Custom => (!custom).then_some(Wrap::Custom),
            _ => self.names.wrapping(&name),
        };
        let wrapped = wrap.map(|wrap| wrap.put_around(&call.args));
        let text = wrapped.as_ref().unwrap_or(&call.args);
        let mut object = out.object();
        object.string("id", id);
        object.string("type", kind);
        let mut called = object.object(kind);
        called.string("name", &name);
        // Arguments that are empty stand for none (translation contract, invariant 1).
        let empty = !custom && text.trim().is_empty();
        called.string(args, if empty { "{}" } else { text });
        called.end();
        for field in item.extra.of(DialectId::Chat).filter(|field| !field.name.starts_with(MESSAGE_PREFIX)) {
            object.json(&field.name, &field.value);
        }
        object.end();
    }

    /// Reasoning that led to a message, with the path of each item.
    pub(super) fn reasoning(&mut self, list: &[(String, &Reasoning)], out: &mut Object<'_>) {
        let quirks = self.target.quirks;
        let texts = list.iter().flat_map(|(_, reasoning)| &reasoning.text);
        let text: Vec<&str> = texts.map(String::as_str).collect();
        if quirks.replay_reasoning {
            if !text.is_empty() {
                out.string(&quirks.reasoning_field, &text.join("\n\n"));
            } else if &*quirks.reasoning_field == "reasoning_content" {
                // DeepSeek refuses a history in which any earlier turn lacks it; a space passes.
                out.string("reasoning_content", " ");
            }
        }
        for (at, reasoning) in list {
            if !reasoning.carriers.iter().all(is_native) {
                let why = "reasoning of another origin means nothing to this upstream";
                self.losses.push(Loss::warn(at.as_str(), why));
            } else if !(reasoning.text.is_empty() || quirks.replay_reasoning) || !reasoning.summary.is_empty()
            {
                self.losses.push(Loss::hint(at.as_str(), "earlier reasoning is not sent to this upstream"));
            }
        }
        let mut details =
            list.iter().flat_map(|(_, reasoning)| &reasoning.carriers).filter(|c| is_native(c)).peekable();
        if details.peek().is_some() {
            let mut entries = out.list("reasoning_details");
            for carrier in details {
                carriers::write(carrier, entries.item());
            }
            entries.end();
        }
    }
}

/// Whether upstreams of this dialect can read the carrier: one of them made it, or a client of this dialect
/// brought it as an upstream gave it.
fn is_native(carrier: &Carrier) -> bool {
    match &carrier.origin {
        Some(origin) => origin.dialect == DialectId::Chat,
        None => carrier.kind == CarrierKind::Details && !carriers::is_sealed(carrier),
    }
}

/// An earlier search as a note (translation contract §7.6): what was looked for, and what was found.
pub(super) fn note(call: &Call) -> Option<String> {
    let what = match call.kind {
        CallKind::WebSearch => "Web search",
        CallKind::FileSearch => "File search",
        _ => return None,
    };
    let detail: serde_json::Value = serde_json::from_str(call.detail.as_ref()?.as_str()).ok()?;
    let action = detail.get("action").unwrap_or(&detail);
    let mut words: Vec<&str> = action.get("query").and_then(|query| query.as_str()).into_iter().collect();
    for list in ["queries", "sources", "results"] {
        let entries = action.get(list).or_else(|| detail.get(list)).and_then(|list| list.as_array());
        words.extend(entries.into_iter().flatten().filter_map(|entry| {
            let named = ["url", "filename"].into_iter().find_map(|key| entry.get(key)?.as_str());
            entry.as_str().or(named)
        }));
    }
    words.dedup();
    (!words.is_empty()).then(|| format!("[{what}: {}]", words.join("; ")))
}
