//! An upstream's error as an error: by status first, words only refine it. Numbers inside of texts say nothing.

use serde_json::Value;
use trilith_core::{Error, ErrorKind, ErrorOrigin, Retry, UpstreamFault};

use crate::openai_error::redact;

/// What an error body told.
#[derive(Debug, Default)]
struct Told {
    message: Option<String>,
    kind: Option<String>,
    code: Option<String>,
}

/// An upstream's error body as an error. Any body will do: HTML, nothing, an array around the object.
pub(in crate::messages) fn decode(status: u16, body: &[u8]) -> Error {
    let value = serde_json::from_slice::<Value>(body).unwrap_or_default();
    classify(status, &Told::of(unwrapped(&value)))
}

/// The error inside a body or event that came with a success status; `None` when it holds none.
pub(in crate::messages) fn in_body(body: &[u8]) -> Option<Error> {
    let value = serde_json::from_slice::<Value>(body).ok()?;
    let value = unwrapped(&value);
    let is_error = value.get("error").is_some_and(|error| !error.is_null())
        || value.get("type").and_then(Value::as_str) == Some("error");
    if !is_error {
        return None;
    }
    let told = Told::of(value);
    let mut error = classify(told.kind.as_deref().and_then(implied_status).unwrap_or(502), &told);
    if let Some(fault) = &mut error.upstream {
        fault.status = None;
    }
    Some(error)
}

/// The upstream sent what is not of this dialect.
pub(in crate::messages) fn nonsense(what: &str) -> Error {
    Error::upstream(format!("The upstream sent {what}."))
}

fn unwrapped(value: &Value) -> &Value {
    match value {
        Value::Array(list) => list.first().unwrap_or(&Value::Null),
        value => value,
    }
}

/// The status that belongs to an error's type.
fn implied_status(kind: &str) -> Option<u16> {
    Some(match kind {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "conflict_error" => 409,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "api_error" => 500,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => return None,
    })
}

impl Told {
    fn of(value: &Value) -> Self {
        let error = match value.get("error") {
            Some(Value::String(message)) => {
                return Self { message: Some(message.clone()), ..Self::default() };
            }
            Some(error @ Value::Object(_)) => error,
            // Hosts that put nothing around it; Bedrock and Vertex for errors of their own.
            _ => value,
        };
        let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        Self {
            message: text(error, "message").or_else(|| text(error, "detail")),
            kind: text(error, "type"),
            code: error.get("details").and_then(|details| text(details, "error_code")),
        }
    }

    fn is_any(&self, words: &[&str]) -> bool {
        [&self.code, &self.kind].into_iter().flatten().any(|word| words.contains(&word.as_str()))
    }

    /// Whether the message holds one of the phrases, which are in lower case.
    fn says(&self, phrases: &[&str]) -> bool {
        self.message.as_deref().is_some_and(|message| {
            let message = message.to_lowercase();
            phrases.iter().any(|phrase| message.contains(phrase))
        })
    }
}

fn class(status: u16, told: &Told) -> (ErrorKind, Retry) {
    let spent = ["billing_error", "enforced_spend_limit_reached", "contract_spend_limit_reached"];
    let broke = ["credit balance is too low"];
    match status {
        402 => (ErrorKind::QuotaExhausted, Retry::Never),
        400 | 403 | 429 if told.is_any(&spent) || told.says(&broke) => {
            (ErrorKind::QuotaExhausted, Retry::Never)
        }
        401 | 403 => (ErrorKind::UpstreamBroken, Retry::Elsewhere),
        429 => (ErrorKind::RateLimited, Retry::Same(None)),
        404 => (ErrorKind::NotFound, Retry::Elsewhere),
        408 | 504 => (ErrorKind::Timeout, Retry::Elsewhere),
        409 => (ErrorKind::Conflict, Retry::Same(None)),
        413 => (ErrorKind::TooLarge, Retry::Never),
        503 | 529 => (ErrorKind::Overloaded, Retry::Same(None)),
        500..=599 if told.is_any(&["overloaded_error"]) => (ErrorKind::Overloaded, Retry::Same(None)),
        400 | 422 if is_context(told) => (ErrorKind::ContextTooLong, Retry::Never),
        400..=499 => (ErrorKind::BadRequest, Retry::Never),
        _ => (ErrorKind::UpstreamBroken, Retry::Elsewhere),
    }
}

fn is_context(told: &Told) -> bool {
    told.says(&["prompt is too long", "exceed context limit", "input is too long for requested model"])
}

fn classify(status: u16, told: &Told) -> Error {
    let (kind, retry) = class(status, told);
    let own_key = matches!(status, 401 | 403) && kind == ErrorKind::UpstreamBroken;
    let message = told.message.as_deref().map(redact).filter(|message| !message.is_empty());
    let public = match message {
        // It is Trilith's own credential that was refused; the caller can do nothing with the text.
        _ if own_key => "The upstream did not accept the gateway's credentials.".to_owned(),
        Some(message) => message,
        None if status >= 500 => format!("The upstream failed with status {status}."),
        None => format!("The upstream refused the request with status {status}."),
    };
    let mut error = Error { retry, ..Error::new(kind, ErrorOrigin::Upstream, public) };
    if !own_key {
        error.code = told.code.clone().filter(|code| is_code(code)).map(Into::into);
    }
    let word = |text: &Option<String>| text.as_deref().map(|text| redact(text).into_boxed_str());
    error.upstream = Some(Box::new(UpstreamFault {
        status: Some(status),
        code: word(&told.code),
        kind: word(&told.kind),
    }));
    error
}

/// A word that a program can look for.
fn is_code(code: &str) -> bool {
    const LONGEST: usize = 64;
    (1..=LONGEST).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}
