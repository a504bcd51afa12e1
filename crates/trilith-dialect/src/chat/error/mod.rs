//! Errors, both ways (openai-checklist §1.2, translation contract §17).

mod redact;
mod wire;

use trilith_core::{Error, ErrorKind, ErrorOrigin, Retry, UpstreamFault};

use super::json::Object;
use redact::redact;
use wire::Told;

/// An upstream's error body as an error.
pub(super) fn decode(status: u16, body: &[u8]) -> Error {
    let told = Told::read(body);
    classify(status, told)
}

/// The error inside a body or chunk that came with a success status; `None` when it holds none.
pub(super) fn in_body(body: &[u8]) -> Option<Error> {
    let told = Told::read(body);
    if !told.is_error {
        return None;
    }
    let status = told.status.unwrap_or_else(|| match told.word() {
        Some("insufficient_quota" | "rate_limit_exceeded" | "rate_limit_error" | "requests" | "tokens") => {
            429
        }
        Some("invalid_request_error" | "context_length_exceeded" | "content_filter" | "invalid_prompt") => {
            400
        }
        Some("server_is_overloaded" | "slow_down" | "overloaded_error" | "service_unavailable_error") => 503,
        _ => 502,
    });
    let mut error = classify(status, told);
    if let Some(fault) = &mut error.upstream {
        fault.status = None;
    }
    Some(error)
}

/// The upstream sent what is not of this dialect.
pub(super) fn nonsense(what: &str) -> Error {
    Error::upstream(format!("The upstream sent {what}."))
}

fn classify(status: u16, told: Told) -> Error {
    let (kind, retry) = class(status, &told);
    let message = told.message.as_deref().map(redact).filter(|message| !message.is_empty());
    let public = match kind {
        // It is Trilith's own credential that was refused; the caller can do nothing with the text.
        ErrorKind::UpstreamBroken if is_credential(status, &told) => {
            "The upstream did not accept the gateway's credentials.".to_owned()
        }
        ErrorKind::UpstreamBroken | ErrorKind::Overloaded | ErrorKind::Timeout => match message {
            Some(message) => format!("The upstream failed: {message}"),
            None => format!("The upstream failed with status {status}."),
        },
        _ => message.unwrap_or_else(|| format!("The upstream refused the request with status {status}.")),
    };
    let mut error = Error { retry, ..Error::new(kind, ErrorOrigin::Upstream, public) };
    let word = |text: &Option<String>| text.as_deref().map(|text| redact(text).into_boxed_str());
    if matches!(kind, ErrorKind::BadRequest | ErrorKind::ContextTooLong | ErrorKind::NotFound) {
        error.param = word(&told.param);
        error.code = told.code.as_deref().map(|code| redact(code).into());
    }
    error.upstream = Some(Box::new(UpstreamFault {
        status: Some(status),
        code: word(&told.code),
        kind: word(&told.kind),
    }));
    error
}

fn is_credential(status: u16, told: &Told) -> bool {
    let refused = matches!(told.code.as_deref(), Some("invalid_api_key" | "API_KEY_INVALID"))
        || told.says(&["api key not valid", "incorrect api key"]);
    matches!(status, 401 | 403) || (status == 400 && refused)
}

/// By status first; words of the upstream only refine it. Numbers inside of texts say nothing.
fn class(status: u16, told: &Told) -> (ErrorKind, Retry) {
    let quota = ["insufficient_quota", "credit_balance_exhausted", "billing_hard_limit_reached"];
    match status {
        _ if is_credential(status, told) => (ErrorKind::UpstreamBroken, Retry::Elsewhere),
        402 => (ErrorKind::QuotaExhausted, Retry::Never),
        429 if told.is_any(&quota) => (ErrorKind::QuotaExhausted, Retry::Never),
        429 => (ErrorKind::RateLimited, Retry::Same(None)),
        404 => (ErrorKind::NotFound, Retry::Elsewhere),
        408 | 504 => (ErrorKind::Timeout, Retry::Same(None)),
        409 => (ErrorKind::Conflict, Retry::Same(None)),
        413 => (ErrorKind::TooLarge, Retry::Never),
        503 | 529 => (ErrorKind::Overloaded, Retry::Same(None)),
        400 | 422 if is_context(told) => (ErrorKind::ContextTooLong, Retry::Never),
        400..=499 => (ErrorKind::BadRequest, Retry::Never),
        _ => (ErrorKind::UpstreamBroken, Retry::Elsewhere),
    }
}

fn is_context(told: &Told) -> bool {
    told.is_any(&["context_length_exceeded", "exceed_context_size_error"])
        || told.says(&["maximum context length", "context length of", "exceeds the available context size"])
}

/// Appends an error body and gives its HTTP status.
pub(super) fn render(error: &Error, out: &mut Vec<u8>) -> u16 {
    let (status, kind, code) = words(error.kind);
    let mut object = Object::new(out);
    let mut inner = object.object("error");
    inner.string("message", &error.public);
    inner.string("type", kind);
    match &error.param {
        Some(param) if !param.is_empty() => inner.string("param", param),
        _ => inner.null("param"),
    }
    match error.code.as_deref().or(code) {
        Some(code) => inner.string("code", code),
        None => inner.null("code"),
    }
    inner.end();
    object.end();
    status
}

/// The status, the type and the code where the error has none of its own.
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
        ErrorKind::Overloaded => (503, "server_error", Some("server_is_overloaded")),
        ErrorKind::Timeout => (504, "server_error", Some("timeout")),
        ErrorKind::UpstreamBroken => (502, "server_error", None),
        ErrorKind::Internal => (500, "server_error", None),
        ErrorKind::UpgradeRequired => (426, REQUEST, Some("upgrade_required")),
    }
}
