//! Error bodies, both directions (openai-checklist T6, §1.2; translation contract §17).

use std::fmt::Write as _;

use trilith_core::{Error, ErrorKind, ErrorOrigin, Retry, UpstreamFault};

use super::{
    object::Object,
    tape::{Kind, Tape, Value},
};

/// HTTP status, `type` and the code where the error names none.
const fn shape(kind: ErrorKind) -> (u16, &'static str, Option<&'static str>) {
    const INVALID: &str = "invalid_request_error";
    match kind {
        ErrorKind::BadRequest => (400, INVALID, None),
        ErrorKind::Unauthorized => (401, INVALID, Some("invalid_api_key")),
        ErrorKind::QuotaExhausted => (429, "insufficient_quota", Some("insufficient_quota")),
        ErrorKind::Forbidden => (403, INVALID, None),
        ErrorKind::NotFound => (404, INVALID, None),
        ErrorKind::MethodNotAllowed => (405, INVALID, None),
        ErrorKind::Conflict => (409, INVALID, None),
        ErrorKind::TooLarge => (413, INVALID, None),
        ErrorKind::UnsupportedMediaType => (415, INVALID, None),
        ErrorKind::ContextTooLong => (400, INVALID, Some("context_length_exceeded")),
        ErrorKind::RateLimited => (429, "rate_limit_error", Some("rate_limit_exceeded")),
        ErrorKind::Overloaded => (503, "service_unavailable_error", Some("server_is_overloaded")),
        ErrorKind::Timeout => (504, "server_error", None),
        ErrorKind::UpstreamBroken => (502, "server_error", None),
        ErrorKind::Internal => (500, "server_error", None),
        ErrorKind::UpgradeRequired => (426, INVALID, None),
    }
}

/// Writes the error body; all four keys are always there. Returns the HTTP status.
pub(super) fn render(error: &Error, out: &mut Vec<u8>) -> u16 {
    let mut object = Object::open(out);
    write_fields(object.key("error"), error);
    object.close();
    shape(error.kind).0
}

/// Writes the object below `error`.
pub(super) fn write_fields(out: &mut Vec<u8>, error: &Error) {
    let (_, kind, _) = shape(error.kind);
    let mut object = Object::open(out);
    object.str("message", &error.public);
    object.str("type", kind);
    object.str_or_null("param", error.param.as_deref());
    object.str_or_null("code", code(error));
    object.close();
}

/// The machine-readable code.
pub(super) fn code(error: &Error) -> Option<&str> {
    error.code.as_deref().or(shape(error.kind).2)
}

/// An upstream's error body. Any body will do: HTML, nothing, an array around the object.
pub(super) fn decode(status: u16, body: &[u8]) -> Error {
    let mut tape = Tape::default();
    let root = tape.read_bytes(body).ok();
    let unwrapped = root.map(|root| match root.kind() {
        Kind::Array => root.elements().next().unwrap_or(root),
        _ => root,
    });
    match unwrapped {
        Some(value) => classify(Some(status), value.get("error").unwrap_or(value)),
        None => bare(Some(status), None, UpstreamFault { status: Some(status), ..UpstreamFault::default() }),
    }
}

/// An error object, with the HTTP status where there was one.
pub(super) fn classify(status: Option<u16>, value: Value<'_>) -> Error {
    let number = |value: Value<'_>| value.u64().map(|n| n.to_string());
    let word = |name: &str| {
        let value = value.get(name)?;
        value.string().map(String::from).or_else(|| number(value)).map(Box::<str>::from)
    };
    let message = match value.kind() {
        Kind::String => value.string().map(Box::<str>::from),
        _ => word("message").or_else(|| word("detail")),
    };
    let fault = UpstreamFault { status, code: word("code"), kind: word("type") };
    let mut error = bare(status, message.as_deref(), fault);
    if error.origin == ErrorOrigin::Upstream
        && matches!(error.kind, ErrorKind::BadRequest | ErrorKind::ContextTooLong | ErrorKind::NotFound)
    {
        error.param = word("param");
    }
    error
}

/// The class is told by status, code and type, never by words of the message.
fn bare(status: Option<u16>, message: Option<&str>, fault: UpstreamFault) -> Error {
    let code = fault.code.as_deref().unwrap_or("");
    let word = fault.kind.as_deref().unwrap_or("");
    let quota = |text: &str| {
        matches!(text, "insufficient_quota" | "credit_balance_exhausted" | "billing_hard_limit_reached")
    };
    let (kind, retry) = if quota(code) || quota(word) {
        (ErrorKind::QuotaExhausted, Retry::Never)
    } else {
        match (status.unwrap_or(0), code, word) {
            (401 | 403, ..) | (0, "invalid_api_key", _) => (ErrorKind::UpstreamBroken, Retry::Elsewhere),
            (_, "context_length_exceeded", _) => (ErrorKind::ContextTooLong, Retry::Never),
            (_, "rate_limit_exceeded", _) | (429, ..) | (0, _, "rate_limit_error" | "too_many_requests") => {
                (ErrorKind::RateLimited, Retry::Same(None))
            }
            (_, "server_is_overloaded" | "slow_down", _)
            | (503 | 529, ..)
            | (0, _, "service_unavailable_error") => (ErrorKind::Overloaded, Retry::Same(None)),
            (402, ..) => (ErrorKind::QuotaExhausted, Retry::Never),
            (404, ..) | (0, "model_not_found", _) => (ErrorKind::NotFound, Retry::Never),
            (408 | 504, ..) => (ErrorKind::Timeout, Retry::Elsewhere),
            (409, ..) => (ErrorKind::Conflict, Retry::Same(None)),
            (413, ..) => (ErrorKind::TooLarge, Retry::Never),
            (400..=499, ..) | (0, _, "invalid_request_error") | (0, "invalid_prompt", _) => {
                (ErrorKind::BadRequest, Retry::Never)
            }
            (500..=599, ..) => (ErrorKind::UpstreamBroken, Retry::Elsewhere),
            _ => (ErrorKind::UpstreamBroken, Retry::Elsewhere),
        }
    };
    let key_problem = matches!(status, Some(401 | 403)) || code == "invalid_api_key";
    let public = match message.filter(|text| !key_problem && !text.trim().is_empty()) {
        Some(text) => redact(text),
        None if key_problem => "The upstream refused the gateway's own access.".to_owned(),
        None => synthesized(status),
    };
    let mut error = Error::new(kind, ErrorOrigin::Upstream, public);
    error.retry = retry;
    if !key_problem && !code.is_empty() {
        error.code = Some(code.to_owned().into());
    }
    error.upstream = Some(Box::new(fault));
    error
}

fn synthesized(status: Option<u16>) -> String {
    let mut text = "The upstream failed".to_owned();
    if let Some(status) = status {
        // Writing to a string cannot fail.
        let _ = write!(text, " with status {status}");
    }
    text.push_str(" and gave no reason.");
    text
}

/// The longest message that is passed on, in characters.
const LONGEST_MESSAGE: usize = 2000;

/// The text without what looks like a key, a token or an internal address.
fn redact(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(LONGEST_MESSAGE));
    let mut after_bearer = false;
    for piece in text.split_inclusive(char::is_whitespace).take(LONGEST_MESSAGE) {
        let word = piece.trim_end();
        let space = piece.get(word.len()..).unwrap_or_default();
        if after_bearer || is_secret(word) {
            out.push_str("[redacted]");
        } else {
            out.push_str(word);
        }
        out.push_str(space);
        after_bearer = word.eq_ignore_ascii_case("bearer");
    }
    match out.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => out.get(..end).unwrap_or_default().to_owned(),
        None => out,
    }
}

fn is_secret(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let lower = bare.to_ascii_lowercase();
    let internal = |host: &str| {
        host == "localhost"
            || host.ends_with(".internal")
            || host.ends_with(".local")
            || host.ends_with(".svc")
            || is_ip(host)
    };
    let host = lower.split(['/', ':']).next().unwrap_or_default();
    let key = lower
        .split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_'))
        .any(|token| token.starts_with("sk-"));
    key || lower.contains("://") || internal(host) || is_ip(&lower)
}

/// Four groups of digits, or hexadecimal groups with at least two colons.
fn is_ip(text: &str) -> bool {
    let v4 = text.split('.').count() == 4
        && text
            .split('.')
            .all(|group| (1..=3).contains(&group.len()) && group.bytes().all(|b| b.is_ascii_digit()));
    let v6 = text.bytes().filter(|byte| *byte == b':').count() >= 2
        && text.bytes().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.'));
    v4 || v6
}
