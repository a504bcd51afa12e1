//! Reasoning carriers in `reasoning_details` (translation contract §8).
//!
//! An entry of an upstream that has such a list passes as it came. Any other carrier has no slot here, so it
//! travels as an entry of type `reasoning.encrypted` whose `format` names the slot it came from. Such an entry
//! from an upstream (one that is a Trilith itself) is that upstream's own, and goes back to it as it came.

use trilith_core::{Carrier, CarrierKind};

use crate::{chat::json::Object, scan::ENVELOPE_PREFIX};

const FORMAT_PREFIX: &str = "trilith-";

/// Whether the carrier's data is one of Trilith's envelopes and not a wire value.
pub(in crate::chat) fn is_sealed(carrier: &Carrier) -> bool {
    carrier.data.starts_with(ENVELOPE_PREFIX)
}

/// Appends the carrier as one entry.
pub(in crate::chat) fn write(carrier: &Carrier, out: &mut Vec<u8>) {
    if carrier.kind == CarrierKind::Details && !is_sealed(carrier) {
        out.extend_from_slice(carrier.data.as_bytes());
        return;
    }
    let mut object = Object::new(out);
    object.string("type", "reasoning.encrypted");
    object.string("data", &carrier.data);
    object.string("format", &format!("{FORMAT_PREFIX}{}", carrier.kind.name()));
    object.end();
}

/// The envelope inside an entry that [`write`] made for a client; `None` for an upstream's own entry.
pub(in crate::chat) fn sealed(raw: &str) -> Option<Carrier> {
    #[derive(serde::Deserialize)]
    struct Entry {
        data: Option<Box<str>>,
        format: Option<String>,
    }
    // Only a text that holds an envelope or the format word is worth parsing.
    memchr::memmem::find(raw.as_bytes(), FORMAT_PREFIX.as_bytes())?;
    let entry: Entry = serde_json::from_str(raw).ok()?;
    let kind = CarrierKind::parse(entry.format?.strip_prefix(FORMAT_PREFIX)?)?;
    let data = entry.data.filter(|data| data.starts_with(ENVELOPE_PREFIX))?;
    Some(Carrier { kind, data, origin: None })
}
