//! An error toward a client. All four keys are always there.

use std::borrow::Cow;

use trilith_core::{Error, ErrorKind};

use crate::{scan::write_string, spelling::Respell};

/// Appends an error body and gives its HTTP status. Paths get the client's spelling.
pub(crate) fn render(error: &Error, respell: Respell, out: &mut Vec<u8>) -> u16 {
    out.extend_from_slice(b"{\"error\":");
    write_fields(error, respell, out);
    out.push(b'}');
    words(error.kind).0
}

/// Appends the object below `error`.
pub(crate) fn write_fields(error: &Error, respell: Respell, out: &mut Vec<u8>) {
    let (_, kind, _) = words(error.kind);
    let param = error.param.as_deref().filter(|param| !param.is_empty()).map(respell);
    out.extend_from_slice(b"{\"message\":");
    write_string(out, &message(error, respell));
    out.extend_from_slice(b",\"type\":");
    write_string(out, kind);
    for (key, value) in [(",\"param\":", param.as_deref()), (",\"code\":", code(error))] {
        out.extend_from_slice(key.as_bytes());
        match value {
            Some(text) => write_string(out, text),
            None => out.extend_from_slice(b"null"),
        }
    }
    out.push(b'}');
}

/// The machine-readable code: the error's own, else that of its class.
pub(crate) fn code(error: &Error) -> Option<&str> {
    error.code.as_deref().or(words(error.kind).2)
}

/// The text, with the field that it names in the client's spelling.
pub(crate) fn message(error: &Error, respell: Respell) -> Cow<'_, str> {
    if let Some(param) = error.param.as_deref().filter(|param| !param.is_empty()) {
        let (quoted, spelled) = (format!("'{param}'"), respell(param));
        if *spelled != *param && error.public.contains(&quoted) {
            return Cow::Owned(error.public.replace(&quoted, &format!("'{spelled}'")));
        }
    }
    Cow::Borrowed(&error.public)
}

/// HTTP status, `type`, and the code where the error names none.
const fn words(kind: ErrorKind) -> (u16, &'static str, Option<&'static str>) {
    const REQUEST: &str = "invalid_request_error";
    match kind {
        ErrorKind::BadRequest => (400, REQUEST, None),
        ErrorKind::Unauthorized => (401, REQUEST, Some("invalid_api_key")),
        ErrorKind::QuotaExhausted => (429, "insufficient_quota", Some("insufficient_quota")),
        ErrorKind::Forbidden => (403, REQUEST, None),
        ErrorKind::NotFound => (404, REQUEST, None),
        ErrorKind::MethodNotAllowed => (405, REQUEST, Some("method_not_allowed")),
        ErrorKind::Conflict => (409, REQUEST, None),
        ErrorKind::TooLarge => (413, REQUEST, Some("request_too_large")),
        ErrorKind::UnsupportedMediaType => (415, REQUEST, Some("unsupported_media_type")),
        ErrorKind::ContextTooLong => (400, REQUEST, Some("context_length_exceeded")),
        ErrorKind::RateLimited => (429, "rate_limit_error", Some("rate_limit_exceeded")),
        ErrorKind::Overloaded => (503, "service_unavailable_error", Some("server_is_overloaded")),
        ErrorKind::Timeout => (504, "server_error", Some("timeout")),
        ErrorKind::UpstreamBroken => (502, "server_error", None),
        ErrorKind::Internal => (500, "server_error", None),
        ErrorKind::UpgradeRequired => (426, REQUEST, Some("upgrade_required")),
    }
}
