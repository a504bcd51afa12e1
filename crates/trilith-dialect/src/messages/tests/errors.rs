//! Errors, both ways.

use serde_json::{Value, json};
use trilith_core::{Error, ErrorKind, ErrorOrigin, Retry};

use crate::{Dialect, messages::Messages};

fn decode(status: u16, body: &str) -> Error {
    Messages.decode_error(status, body.as_bytes())
}

#[test]
fn statuses_decide() {
    let table = [
        (400, ErrorKind::BadRequest, Retry::Never),
        (401, ErrorKind::UpstreamBroken, Retry::Elsewhere),
        (402, ErrorKind::QuotaExhausted, Retry::Never),
        (403, ErrorKind::UpstreamBroken, Retry::Elsewhere),
        (404, ErrorKind::NotFound, Retry::Elsewhere),
        (408, ErrorKind::Timeout, Retry::Elsewhere),
        (409, ErrorKind::Conflict, Retry::Same(None)),
        (413, ErrorKind::TooLarge, Retry::Never),
        (422, ErrorKind::BadRequest, Retry::Never),
        (429, ErrorKind::RateLimited, Retry::Same(None)),
        (500, ErrorKind::UpstreamBroken, Retry::Elsewhere),
        (503, ErrorKind::Overloaded, Retry::Same(None)),
        (504, ErrorKind::Timeout, Retry::Elsewhere),
        (529, ErrorKind::Overloaded, Retry::Same(None)),
    ];
    for (status, kind, retry) in table {
        for body in
            ["", "<html>429 overloaded</html>", "[{\"error\":{\"message\":\"429\"}}]", "{\"error\":\"x\"}"]
        {
            let error = decode(status, body);
            assert_eq!((error.kind, error.retry), (kind, retry), "{status} {body}");
            assert_eq!(error.origin, ErrorOrigin::Upstream);
            assert!(!error.public.is_empty());
        }
    }
}

#[test]
fn words_refine() {
    let body = |kind: &str, message: &str, code: Option<&str>| {
        let details = code.map(|code| json!({"error_code": code}));
        json!({"type": "error", "error": {"type": kind, "message": message, "details": details}}).to_string()
    };
    let request = "invalid_request_error";
    for (status, body, kind) in [
        (
            400,
            body(request, "prompt is too long: 250000 tokens > 200000 maximum", None),
            ErrorKind::ContextTooLong,
        ),
        (
            400,
            body(request, "Your credit balance is too low to access the API", None),
            ErrorKind::QuotaExhausted,
        ),
        (429, body("rate_limit_error", "x", Some("enforced_spend_limit_reached")), ErrorKind::QuotaExhausted),
        (429, body("rate_limit_error", "x", Some("ramp_limit_exceeded")), ErrorKind::RateLimited),
        (500, body("overloaded_error", "x", None), ErrorKind::Overloaded),
    ] {
        assert_eq!(decode(status, &body).kind, kind, "{body}");
    }
    let error = decode(
        400,
        &body(request, "See http://10.0.0.1/x with sk-ant-api03-abc", Some("tool_name_conflict")),
    );
    assert_eq!(error.public, "See [address] with [redacted]");
    assert_eq!(error.code.as_deref(), Some("tool_name_conflict"));
    let error = decode(401, &body("authentication_error", "invalid x-api-key", None));
    assert_eq!(error.public, "The upstream did not accept the gateway's credentials.");
}

#[test]
fn every_class_has_a_form() {
    let table = [
        (ErrorKind::BadRequest, 400, "invalid_request_error"),
        (ErrorKind::Unauthorized, 401, "authentication_error"),
        (ErrorKind::QuotaExhausted, 402, "billing_error"),
        (ErrorKind::Forbidden, 403, "permission_error"),
        (ErrorKind::NotFound, 404, "not_found_error"),
        (ErrorKind::Conflict, 409, "conflict_error"),
        (ErrorKind::TooLarge, 413, "request_too_large"),
        (ErrorKind::RateLimited, 429, "rate_limit_error"),
        (ErrorKind::UpstreamBroken, 500, "api_error"),
        (ErrorKind::Internal, 500, "api_error"),
        (ErrorKind::Timeout, 504, "timeout_error"),
        (ErrorKind::Overloaded, 529, "overloaded_error"),
    ];
    for (kind, status, word) in table {
        let mut out = Vec::new();
        let error = Error::new(kind, ErrorOrigin::Caller, "why \"so\"").with_code("invalid_value");
        assert_eq!(Messages.render_error(&error, "req_1", &mut out), status);
        let body: Value = serde_json::from_slice(&out).unwrap();
        let error = json!({"type": word, "message": "why \"so\""});
        assert_eq!(body, json!({"type": "error", "error": error, "request_id": "req_1"}));
    }
}

#[test]
fn fields_codes_and_full_contexts_are_named() {
    let render = |error: &Error| {
        let mut out = Vec::new();
        Messages.render_error(error, "", &mut out);
        let body: Value = serde_json::from_slice(&out).unwrap();
        body["error"].clone()
    };
    let error = Error::bad_request("input[0].content[1]", "'input[0].content[1]' is a film.");
    assert_eq!(render(&error)["message"], "'messages.0.content.1' is a film.");
    let error = Error::bad_request("max_output_tokens", "Too many.");
    assert_eq!(render(&error)["message"], "max_tokens: Too many.");
    let error = Error::new(ErrorKind::ContextTooLong, ErrorOrigin::Upstream, "300 tokens.");
    assert_eq!(render(&error)["message"], "prompt is too long: 300 tokens.");
    let error = Error::bad_request("thread", "thread: Not here.").with_code("thread_unsupported_request");
    assert_eq!(
        render(&error),
        json!({"type": "invalid_request_error", "message": "thread: Not here.",
            "details": {"error_code": "thread_unsupported_request"}})
    );
}
