//! Errors as both OpenAI-shaped dialects know them, both ways (openai-checklist T6, §1.2; translation contract
//! §17): one table, so that an error means the same on either wire.

mod redact;
mod render;
#[cfg(test)]
mod tests;
mod told;

use trilith_core::{Error, ErrorKind, ErrorOrigin, Retry, UpstreamFault};

pub(crate) use redact::redact;
pub(crate) use render::{code, message, render, write_fields};
use told::Told;

/// An upstream's error body as an error. Any body will do: HTML, nothing, an array around the object.
pub(crate) fn decode(status: u16, body: &[u8]) -> Error {
    classify(status, &Told::read(body))
}

/// The error inside a body or chunk that came with a success status; `None` when it holds none.
pub(crate) fn in_body(body: &[u8]) -> Option<Error> {
    let told = Told::read(body);
    told.is_error.then(|| without_status(&told))
}

/// An error object, or a bare text, found inside of an answer.
pub(crate) fn in_answer(json: &str) -> Error {
    without_status(&Told::inner(json))
}

/// The upstream sent what is not of this dialect.
pub(crate) fn nonsense(what: &str) -> Error {
    Error::upstream(format!("The upstream sent {what}."))
}

/// The status that an error would have had, by a number inside of it, else by its words.
fn without_status(told: &Told) -> Error {
    let mut words = [&told.code, &told.kind].into_iter().flatten();
    let status = told.status.or_else(|| words.find_map(|word| implied_status(word))).unwrap_or(502);
    let mut error = classify(status, told);
    if let Some(fault) = &mut error.upstream {
        fault.status = None;
    }
    error
}

fn implied_status(word: &str) -> Option<u16> {
    Some(match word {
        "invalid_request_error" | "context_length_exceeded" | "content_filter" | "invalid_prompt" => 400,
        "invalid_api_key" | "authentication_error" => 401,
        "model_not_found" | "not_found_error" => 404,
        "insufficient_quota" | "credit_balance_exhausted" | "billing_hard_limit_reached" => 429,
        "rate_limit_exceeded" | "rate_limit_error" | "too_many_requests" | "requests" | "tokens" => 429,
        "server_is_overloaded" | "slow_down" | "overloaded_error" | "service_unavailable_error" => 503,
        _ => return None,
    })
}

fn classify(status: u16, told: &Told) -> Error {
    let (kind, retry) = class(status, told);
    let own_key = is_credential(status, told) && kind == ErrorKind::UpstreamBroken;
    let message = told.message.as_deref().map(redact).filter(|message| !message.is_empty());
    let public = match message {
        // It is Trilith's own credential that was refused; the caller can do nothing with the text.
        _ if own_key => "The upstream did not accept the gateway's credentials.".to_owned(),
        Some(message) => message,
        None if status >= 500 => format!("The upstream failed with status {status}."),
        None => format!("The upstream refused the request with status {status}."),
    };
    let mut error = Error { retry, ..Error::new(kind, ErrorOrigin::Upstream, public) };
    let word = |text: &Option<String>| text.as_deref().map(|text| redact(text).into_boxed_str());
    if matches!(kind, ErrorKind::BadRequest | ErrorKind::ContextTooLong | ErrorKind::NotFound) {
        error.param = word(&told.param).filter(|param| !param.is_empty());
    }
    if !own_key {
        error.code = told.code.as_deref().filter(|code| is_code(code)).map(|code| code.to_owned().into());
    }
    error.upstream = Some(Box::new(UpstreamFault {
        status: Some(status),
        code: word(&told.code),
        kind: word(&told.kind),
    }));
    error
}

/// A word that a program can look for: neither a sentence, nor a key, nor the status once more.
fn is_code(code: &str) -> bool {
    const LONGEST: usize = 64;
    (1..=LONGEST).contains(&code.len())
        && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        && !code.bytes().all(|byte| byte.is_ascii_digit())
        && redact(code) == code
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
        402 => (ErrorKind::QuotaExhausted, Retry::Never),
        403 | 429 if told.is_any(&quota) => (ErrorKind::QuotaExhausted, Retry::Never),
        _ if is_credential(status, told) => (ErrorKind::UpstreamBroken, Retry::Elsewhere),
        429 => (ErrorKind::RateLimited, Retry::Same(None)),
        404 => (ErrorKind::NotFound, Retry::Elsewhere),
        408 | 504 => (ErrorKind::Timeout, Retry::Elsewhere),
        409 => (ErrorKind::Conflict, Retry::Same(None)),
        413 => (ErrorKind::TooLarge, Retry::Never),
        503 | 529 => (ErrorKind::Overloaded, Retry::Same(None)),
        500..=599 if told.is_any(&["server_is_overloaded", "slow_down"]) => {
            (ErrorKind::Overloaded, Retry::Same(None))
        }
        400 | 422 if is_context(told) => (ErrorKind::ContextTooLong, Retry::Never),
        400..=499 => (ErrorKind::BadRequest, Retry::Never),
        _ => (ErrorKind::UpstreamBroken, Retry::Elsewhere),
    }
}

fn is_context(told: &Told) -> bool {
    told.is_any(&["context_length_exceeded", "exceed_context_size_error"])
        || told.says(&["maximum context length", "context length of", "exceeds the available context size"])
}
