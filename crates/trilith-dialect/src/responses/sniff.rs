//! Reading a little of bodies that pass untouched.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use trilith_core::Error;

use super::response::decode_usage;
use crate::tape::Tape;
use crate::{
    dialect::{Peek, Sniffed},
    scan::{Kind, Scan},
};

/// What the choice of road needs.
///
/// # Errors
/// One of the fields has the wrong type.
pub(super) fn peek<'a>(scan: &Scan<'a>) -> Result<Peek<'a>, Error> {
    let wrong = |name: &str, what: &str| {
        let text = format!("Invalid type for '{name}': expected {what}.");
        Error::bad_request(name, text).with_code("invalid_type")
    };
    let model = match scan.kind("model") {
        None | Some(Kind::Null) => None,
        Some(Kind::String) => scan.string("model"),
        Some(_) => return Err(wrong("model", "a string")),
    };
    let flag = |name: &str| match scan.kind(name) {
        None | Some(Kind::Null) => Ok(None),
        Some(Kind::Bool) => Ok(scan.bool(name)),
        Some(_) => Err(wrong(name, "a boolean")),
    };
    let stream = flag("stream")?.unwrap_or(false);
    let set = |name: &str| scan.kind(name).is_some_and(|kind| kind != Kind::Null);
    let stateless = flag("store")? == Some(false)
        && !set("previous_response_id")
        && !set("conversation")
        && flag("background")? != Some(true);
    Ok(Peek { model, stream, stateful: !stateless })
}

/// How far into an event its type is looked for, in bytes; every known server writes it first.
const TYPE_WITHIN: usize = 256;

static DELTA: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(".delta\""));
static ITEM: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"response.output_item."));
static ANY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("response"));
static ERROR: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"error\""));
static EVENT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"response."));
static ENDS: [LazyLock<Finder<'static>>; 3] = [
    LazyLock::new(|| Finder::new("response.completed")),
    LazyLock::new(|| Finder::new("response.incomplete")),
    LazyLock::new(|| Finder::new("response.failed")),
];

/// Looks at one event, or at a whole body.
pub(super) fn sniff(data: &[u8], seen: &mut Sniffed) {
    let head = data.get(..data.len().min(TYPE_WITHIN)).unwrap_or_default();
    let says = |word: &LazyLock<Finder<'static>>| word.find(head).is_some();
    let delta = says(&DELTA) || says(&ITEM);
    if delta || (!says(&ANY) && !says(&ERROR)) {
        return;
    }
    let whole_body = !says(&EVENT);
    let ending = ENDS.iter().any(says);
    if !whole_body && !ending {
        return;
    }
    let mut tape = Tape::default();
    let Ok(value) = tape.read_bytes(data) else { return };
    let kind = value.str("type").unwrap_or_default();
    let response = value.get("response").unwrap_or(value);
    match (&*kind, response.str("status").as_deref()) {
        ("response.completed" | "response.incomplete", _) | ("", Some("completed" | "incomplete")) => {
            seen.ended = true;
        }
        ("response.failed", _) | ("", Some("failed")) => {
            seen.ended = true;
            seen.failed = true;
        }
        ("error", _) => seen.failed = true,
        ("", None) if value.get("error").is_some() => seen.failed = true,
        _ => return,
    }
    if let Some(usage) = response.get("usage") {
        seen.usage = Some(decode_usage(usage));
    }
}
