//! What a tee reads from an answer that passes untouched.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde::Deserialize;

use super::response::usage::WireUsage;
use crate::{Sniffed, loose::Text, typed};

/// Looks at one payload of a stream, or at a whole body. Deltas hold none of the words that matter and are not
/// parsed.
pub(super) fn sniff(data: &[u8], seen: &mut Sniffed) {
    static USAGE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"usage\""));
    static STOP: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"message_stop\""));
    static ERROR: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"error\""));

    let has = |finder: &LazyLock<Finder<'static>>| finder.find(data).is_some();
    if !has(&USAGE) && !has(&STOP) && !has(&ERROR) {
        return;
    }
    let Ok(told) = typed::from_slice::<Told>(data) else { return };
    if let Some(wire) = told.message.and_then(|message| message.usage).or(told.usage) {
        wire.learn(seen.usage.get_or_insert_default());
    }
    match told.kind.0.as_deref() {
        Some("error") => seen.failed = true,
        Some("message_stop") => seen.ended = true,
        Some("message") => seen.ended |= told.stop_reason.0.is_some(),
        _ => {}
    }
}

#[derive(Deserialize)]
struct Told {
    #[serde(default, rename = "type")]
    kind: Text,
    #[serde(default)]
    stop_reason: Text,
    message: Option<Message>,
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct Message {
    usage: Option<WireUsage>,
}
