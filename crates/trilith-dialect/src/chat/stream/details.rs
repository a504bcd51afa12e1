//! OpenRouter's `reasoning_details`: entries that must go back unchanged, streamed in fragments.

use serde_json::{Map, Value, value::RawValue};
use trilith_core::{Carrier, CarrierKind};

/// The members that fragments of one entry continue.
const GROWING: [&str; 3] = ["text", "summary", "data"];

/// The entries so far.
#[derive(Default)]
pub(super) struct Details(Vec<Entry>);

struct Entry {
    /// The entry as it came, as long as it came in one piece.
    raw: Option<Box<str>>,
    fields: Map<String, Value>,
}

/// Readable text inside of an entry.
pub(super) enum Readable {
    Text(String),
    Summary(String),
}

impl Details {
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes a fragment and gives what can be read in it. A fragment with the type and the index of the
    /// entry before it continues that entry.
    pub(super) fn take(&mut self, raw: &RawValue) -> Option<Readable> {
        let Ok(Value::Object(fields)) = serde_json::from_str(raw.get()) else { return None };
        let word = |fields: &Map<String, Value>, name: &str| {
            fields.get(name).and_then(Value::as_str).map(str::to_owned).filter(|text| !text.is_empty())
        };
        let readable = match fields.get("type").and_then(Value::as_str) {
            Some("reasoning.text") => word(&fields, "text").map(Readable::Text),
            Some("reasoning.summary") => word(&fields, "summary").map(Readable::Summary),
            _ => None,
        };
        let continued = self.0.last_mut().filter(|last| {
            let indexed = fields.get("index").is_some_and(|index| !index.is_null());
            indexed
                && last.fields.get("type") == fields.get("type")
                && last.fields.get("index") == fields.get("index")
        });
        match continued {
            Some(entry) => entry.grow(fields),
            None => self.0.push(Entry { raw: Some(raw.get().into()), fields }),
        }
        readable
    }

    /// The entries as carriers.
    pub(super) fn carriers(self) -> Vec<Carrier> {
        let entries = self.0.into_iter().map(|entry| {
            let data = entry.raw.unwrap_or_else(|| Value::Object(entry.fields).to_string().into());
            Carrier { kind: CarrierKind::Details, data, origin: None }
        });
        entries.collect()
    }
}

impl Entry {
    fn grow(&mut self, fields: Map<String, Value>) {
        self.raw = None;
        for (name, value) in fields {
            match (self.fields.get_mut(&name), value) {
                (Some(_), Value::Null) => {}
                (Some(Value::String(known)), Value::String(more)) if GROWING.contains(&name.as_str()) => {
                    known.push_str(&more);
                }
                (_, value) => {
                    self.fields.insert(name, value);
                }
            }
        }
    }
}
