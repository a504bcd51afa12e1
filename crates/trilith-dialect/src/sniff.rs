//! What a tee reads from an answer of choices (Chat Completions, Completions) that passes untouched.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde::Deserialize;

use crate::{Sniffed, loose::Text, openai_usage::WireUsage, typed};

/// Looks at one payload of a stream, or at a whole body. Most payloads hold none of the words that matter
/// and are not parsed; of one with counts, nothing but the counts is.
pub(crate) fn sniff(data: &[u8], seen: &mut Sniffed) {
    static FINISH: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"finish_reason\""));
    static ERROR: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"error\""));
    const LONGEST_DONE: usize = 16;

    if data.len() <= LONGEST_DONE && data.trim_ascii() == b"[DONE]" {
        seen.ended = true;
        return;
    }
    if !seen.ended {
        seen.ended = FINISH.find_iter(data).any(|at| value(data, at + FINISH.needle().len()) == Some(b'"'));
    }
    if let Some(usage) = usage(data) {
        seen.usage = Some(usage.usage());
    }
    // A value of that spelling has no colon after it; `"object":"error"` is one that matters.
    if ERROR.find_iter(data).any(|at| value(data, at + ERROR.needle().len()).unwrap_or(b'"') != b'n') {
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

/// The counts of the last member of that name which has any: servers write them at the end.
fn usage(data: &[u8]) -> Option<WireUsage> {
    static USAGE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"usage\""));
    let behind = USAGE.find_iter(data).map(|at| at + USAGE.needle().len());
    let counted = behind.filter(|at| value(data, *at) == Some(b'{')).last()?;
    let object = data.get(counted..)?.trim_ascii_start().get(1..)?;
    typed::front(object).ok()
}

/// The first byte of the value whose key ends before `at`; `None` when it is no key. Inside a string the quotes
/// of a name are escaped, so that text never looks like a member.
fn value(data: &[u8], at: usize) -> Option<u8> {
    data.get(at..)?.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start().first().copied()
}
