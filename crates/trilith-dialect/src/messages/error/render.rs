//! An error toward a client.

use std::borrow::Cow;

use trilith_core::{Error, ErrorKind};

use crate::{json::Object, messages::spelling::respell};

/// Appends an error body and gives its HTTP status.
pub(in crate::messages) fn render(error: &Error, request_id: &str, out: &mut Vec<u8>) -> u16 {
    write(error, Some(request_id).filter(|id| !id.is_empty()), out);
    words(error.kind).0
}

/// Appends the body; the same inside of a stream and alone.
pub(in crate::messages) fn write(error: &Error, request_id: Option<&str>, out: &mut Vec<u8>) {
    let mut object = Object::new(out);
    object.string("type", "error");
    let mut inner = object.object("error");
    inner.string("type", words(error.kind).1);
    inner.string("message", &message(error));
    if let Some(code) = error.code.as_deref().filter(|code| is_own(code)) {
        let mut details = inner.object("details");
        details.string("error_code", code);
        details.end();
    }
    inner.end();
    object.optional_string("request_id", request_id);
    object.end();
}

/// The text. This wire has no member for a field's path, so the text opens with it, as the real one's does.
fn message(error: &Error) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(&*error.public);
    if let Some(param) = error.param.as_deref().filter(|param| !param.is_empty()) {
        let spelled = respell(param);
        if *spelled != *param {
            text = Cow::Owned(text.replace(&format!("'{param}'"), &format!("'{spelled}'")));
        }
        if !text.contains(&*spelled) {
            text = Cow::Owned(format!("{spelled}: {text}"));
        }
    }
    // Clients know a full context by these words alone, and compact the conversation.
    const TOO_LONG: &str = "prompt is too long";
    if error.kind == ErrorKind::ContextTooLong && !text.contains(TOO_LONG) {
        text = Cow::Owned(format!("{TOO_LONG}: {text}"));
    }
    text
}

/// HTTP status and `type`.
const fn words(kind: ErrorKind) -> (u16, &'static str) {
    const REQUEST: &str = "invalid_request_error";
    match kind {
        ErrorKind::BadRequest | ErrorKind::ContextTooLong => (400, REQUEST),
        ErrorKind::Unauthorized => (401, "authentication_error"),
        ErrorKind::QuotaExhausted => (402, "billing_error"),
        ErrorKind::Forbidden => (403, "permission_error"),
        ErrorKind::NotFound => (404, "not_found_error"),
        ErrorKind::MethodNotAllowed => (405, REQUEST),
        ErrorKind::Conflict => (409, "conflict_error"),
        ErrorKind::TooLarge => (413, "request_too_large"),
        ErrorKind::UnsupportedMediaType => (415, REQUEST),
        ErrorKind::UpgradeRequired => (426, REQUEST),
        ErrorKind::RateLimited => (429, "rate_limit_error"),
        ErrorKind::UpstreamBroken | ErrorKind::Internal => (500, "api_error"),
        ErrorKind::Timeout => (504, "timeout_error"),
        ErrorKind::Overloaded => (529, "overloaded_error"),
    }
}

/// Codes that this wire's clients look for (dialects §1.8); those of other wires would only mislead them.
fn is_own(code: &str) -> bool {
    const CODES: [&str; 11] = [
        "available_tools_limit_exceeded",
        "contract_spend_limit_reached",
        "enforced_spend_limit_reached",
        "file_expired",
        "image_dimensions_too_large",
        "ramp_limit_exceeded",
        "request_body_encoding_invalid",
        "request_body_encoding_unsupported",
        "request_body_too_large_after_decoding",
        "tool_name_conflict",
        "tool_reference_unresolved",
    ];
    CODES.contains(&code) || code.starts_with("thread_") || code.starts_with("compaction_")
}
