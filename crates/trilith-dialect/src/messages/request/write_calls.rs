//! What the model thought and called, and what the tools answered.

use std::borrow::Cow;

use trilith_core::{
    Call, CallKind, Carrier, CarrierKind, Error, Item, ItemBody, Json, Loss, Reasoning, ResultOutput,
    ResultStatus,
};

use super::{
    CACHE_CONTROL, MESSAGE_PREFIX,
    decode::OWN,
    encode::Encoder,
    ids,
    results::Claim,
    write_blocks::{Blocks, unsayable},
    write_messages::{Spoken, Writer},
};
use crate::json::Object;
use crate::names::Wrap;
use crate::scan::ENVELOPE_PREFIX;

impl Encoder<'_> {
    /// Reasoning goes back only as this wire made it: each carrier is a block of its own.
    pub(super) fn reasoning(&mut self, at: &str, item: &Item, reasoning: &Reasoning, turn: &mut Spoken<'_>) {
        let (own, foreign): (Vec<&Carrier>, Vec<&Carrier>) =
            reasoning.carriers.iter().partition(|carrier| is_native(carrier));
        if !foreign.is_empty() {
            let why = "reasoning of another origin means nothing to this upstream";
            self.losses.push(Loss::warn(at, why));
        } else if own.is_empty() {
            self.losses.push(Loss::warn(at, "reasoning without a signature is not taken by Messages"));
        }
        let texts = if reasoning.text.is_empty() { &reasoning.summary } else { &reasoning.text };
        let mut text = Some(texts.concat());
        for carrier in own {
            turn.thought_first |= turn.blocks.is_empty();
            let mut object = Object::new(turn.blocks.place());
            if carrier.kind == CarrierKind::Redacted {
                object.string("type", "redacted_thinking");
                object.string("data", &carrier.data);
            } else {
                object.string("type", "thinking");
                object.string("thinking", &text.take().unwrap_or_default());
                object.string("signature", &carrier.data);
            }
            for field in item.extra.of(OWN).filter(|field| !field.name.starts_with(MESSAGE_PREFIX)) {
                object.json(&field.name, &field.value);
            }
            object.end();
            turn.ends_in_text = false;
        }
    }

    /// This wire's own fields of a call or a result, its cache mark included.
    fn block_fields(&mut self, at: &str, item: &Item, object: &mut Object<'_>) {
        for field in item.extra.of(OWN).filter(|field| !field.name.starts_with(MESSAGE_PREFIX)) {
            if &*field.name == CACHE_CONTROL && !self.marks.next() {
                self.losses.push(Loss::hint(at, "the cache mark is left out"));
                continue;
            }
            object.json(&field.name, &field.value);
        }
    }
}

impl<'t> Writer<'_, 't, '_> {
    pub(super) fn call(
        &mut self,
        place: usize,
        item: &Item,
        call: &'t Call,
        turn: &mut Spoken<'t>,
    ) -> Result<(), Error> {
        let at = self.at(place);
        let Some(id) = call.call_id.as_deref() else {
            return Err(unsayable(&at, "a call without an id"));
        };
        let claim = self.results.claim(id, place).ok_or_else(|| {
            Error::bad_request("input", format!("No tool output found for function call {id}."))
        })?;
        let name = self.encoder.names.outward(call.namespace.as_deref(), &call.name);
        let mut object = Object::new(turn.blocks.place());
        object.string("type", "tool_use");
        object.string("id", &ids::wire(&claim.id));
        object.string("name", &name);
        object.raw("input", &self.input(&at, &name, call));
        self.encoder.block_fields(&at, item, &mut object);
        object.end();
        if !self.encoder.called.contains(&name) {
            self.encoder.called.push(name);
        }
        turn.claims.push(claim);
        (turn.said, turn.ends_in_text) = (true, false);
        Ok(())
    }

    /// A call's arguments as an object, in the model's own spelling wherever they are one (translation
    /// contract §1, invariant 1).
    fn input<'c>(&mut self, at: &str, name: &str, call: &'c Call) -> Cow<'c, str> {
        let wrap = match call.kind {
            CallKind::Custom => Some(Wrap::Custom),
            _ => self.encoder.names.wrapping(name),
        };
        if let Some(wrap) = wrap {
            return Cow::Owned(wrap.put_around(&call.args));
        }
        let text = call.args.trim();
        if text.is_empty() {
            return Cow::Borrowed("{}");
        }
        if text.starts_with('{') && crate::typed::from_str::<&serde_json::value::RawValue>(text).is_ok() {
            return Cow::Borrowed(text);
        }
        let why = "earlier arguments that are not a JSON object are sent inside of one";
        self.encoder.losses.push(Loss::emulate(format!("{at}.arguments"), why));
        let mut out = Vec::new();
        let mut object = Object::new(&mut out);
        object.string("_raw", &call.args);
        object.end();
        Cow::Owned(String::from_utf8_lossy(&out).into_owned())
    }

    pub(super) fn result(&mut self, claim: Claim, blocks: &mut Blocks<'t>) -> Result<(), Error> {
        let Claim { id, place, replaced, .. } = claim;
        let at = self.at(place);
        if replaced > 0 {
            self.encoder.losses.push(Loss::warn(at.as_str(), "answers a call again; the last one is sent"));
        }
        let Some(Item { body: ItemBody::Result(result), .. }) = self.items.get(place).copied() else {
            return Ok(());
        };
        let item = self.items.get(place).copied();
        let mut inner = Blocks::default();
        let mut whole: Option<&str> = None;
        match &result.output {
            ResultOutput::Text(text) => {
                whole = Some(text).filter(|text| !text.is_empty()).map(String::as_str)
            }
            ResultOutput::Parts(parts) => {
                for (number, part) in parts.iter().enumerate() {
                    self.encoder.block(&format!("{at}.output[{number}]"), part, &mut inner)?;
                }
            }
        }
        let mut object = Object::new(blocks.place());
        object.string("type", "tool_result");
        object.string("tool_use_id", &ids::wire(&id));
        object.optional_string("content", whole);
        if !inner.is_empty() {
            inner.finish(object.key("content"), false);
        }
        if let Some(status) = result.status {
            object.bool("is_error", status == ResultStatus::Error);
        }
        if let Some(item) = item {
            self.encoder.block_fields(&at, item, &mut object);
        }
        object.end();
        Ok(())
    }
}

/// Whether upstreams of this dialect can read the carrier: one of them made it, or a client of this dialect
/// brought it as an upstream gave it.
fn is_native(carrier: &Carrier) -> bool {
    let kind = matches!(carrier.kind, CarrierKind::Signature | CarrierKind::Redacted);
    kind && match &carrier.origin {
        Some(origin) => origin.dialect == OWN,
        None => !carrier.data.starts_with(ENVELOPE_PREFIX),
    }
}

/// An earlier search as a note (translation contract §7.6): what was looked for, and what was found.
pub(super) fn note(call: &Call) -> Option<String> {
    let what = match call.kind {
        CallKind::WebSearch => "Web search",
        CallKind::FileSearch => "File search",
        _ => return None,
    };
    let detail: serde_json::Value = serde_json::from_str(call.detail.as_ref().map(Json::as_str)?).ok()?;
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
