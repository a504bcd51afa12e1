//! What a tee reads from an answer that passes untouched.

use memchr::memmem;
use serde::Deserialize;

use super::response::wire::{Answer, Text};
use crate::Sniffed;

/// Looks at one payload of a stream, or at a whole body. Most payloads hold none of the words that matter
/// and are not parsed.
pub(super) fn sniff(data: &[u8], seen: &mut Sniffed) {
    if data.trim_ascii() == b"[DONE]" {
        seen.ended = true;
        return;
    }
    if value_of(data, b"\"finish_reason\"").is_some_and(|first| first == b'"') {
        seen.ended = true;
    }
    let counted = value_of(data, b"\"usage\"").is_some_and(|first| first == b'{');
    if counted
        && let Ok(answer) = serde_json::from_slice::<Answer<'_>>(data)
        && let Some(usage) = answer.counts()
    {
        seen.usage = Some(usage.usage());
    }
    if value_of(data, b"\"error\"").is_some_and(|first| first != b'n') {
        #[derive(Deserialize)]
        struct Failed<'a> {
            #[serde(borrow)]
            error: Option<&'a serde_json::value::RawValue>,
            #[serde(default)]
            object: Text,
        }
        let failed = serde_json::from_slice::<Failed<'_>>(data);
        seen.failed |=
            failed.is_ok_and(|body| body.error.is_some() || body.object.0.as_deref() == Some("error"));
    }
}

/// The first byte of the value of the last member of that name that is no `null`. Inside a string the quotes
/// of a name are escaped, so that text never looks like a member.
fn value_of(data: &[u8], name: &[u8]) -> Option<u8> {
    memmem::find_iter(data, name)
        .filter_map(|at| {
            let rest = data.get(at + name.len()..)?.trim_ascii_start();
            // A value of that spelling has no colon after it; `"object":"error"` is one that matters.
            Some(
                rest.strip_prefix(b":")
                    .map_or(b'"', |value| value.trim_ascii_start().first().copied().unwrap_or(b'n')),
            )
        })
        .filter(|first| *first != b'n')
        .last()
}
