//! Errors mean the same on both wires.

use serde_json::{Value, json};
use trilith_core::{Error, ErrorKind, ErrorOrigin, Retry};

use crate::{Dialect, chat::Chat, responses::Responses};

#[test]
fn upstream_errors_are_classed_by_status_then_code() {
    let told = |code: &str, message: &str| {
        json!({"error": {"message": message, "type": "t", "param": "p", "code": code}}).to_string()
    };
    let table: Vec<(u16, String, ErrorKind)> = vec![
        (400, told("x", "429 tokens"), ErrorKind::BadRequest),
        (400, told("context_length_exceeded", ""), ErrorKind::ContextTooLong),
        (400, told("", "This model's maximum context length is 10 tokens"), ErrorKind::ContextTooLong),
        (400, json!([{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT"}}]).to_string(), ErrorKind::UpstreamBroken),
        (401, told("invalid_api_key", "Incorrect API key provided: sk-abc"), ErrorKind::UpstreamBroken),
        (402, told("", "pay"), ErrorKind::QuotaExhausted),
        (403, String::new(), ErrorKind::UpstreamBroken),
        (404, told("model_not_found", "no such model"), ErrorKind::NotFound),
        (408, String::new(), ErrorKind::Timeout),
        (413, String::new(), ErrorKind::TooLarge),
        (422, json!({"detail": [{"loc": ["body"], "msg": "field required"}]}).to_string(), ErrorKind::BadRequest),
        (429, told("insufficient_quota", "pay"), ErrorKind::QuotaExhausted),
        (429, told("rate_limit_exceeded", "slow"), ErrorKind::RateLimited),
        (500, "<html><body>Internal</body></html>".into(), ErrorKind::UpstreamBroken),
        (503, String::new(), ErrorKind::Overloaded),
        (504, "upstream timed out".into(), ErrorKind::Timeout),
        (500, told("slow_down", ""), ErrorKind::Overloaded),
        (403, told("insufficient_quota", "pay"), ErrorKind::QuotaExhausted),
        (529, String::new(), ErrorKind::Overloaded),
    ];
    for (status, body, kind) in table {
        let error = Chat.decode_error(status, body.as_bytes());
        let other = Responses.decode_error(status, body.as_bytes());
        assert_eq!((&error, error.retry), (&other, other.retry));
        assert_eq!((error.kind, error.origin), (kind, ErrorOrigin::Upstream), "{status} {body}");
        assert!(!error.public.is_empty());
        assert_eq!(error.upstream.unwrap().status, Some(status));
    }
    assert_eq!(Chat.decode_error(429, br#"{"error":{"code":"insufficient_quota"}}"#).retry, Retry::Never);
    assert_eq!(Chat.decode_error(422, br#"{"detail":"no"}"#).public, "no");
    let refused = Chat.decode_error(
        401,
        br#"{"error":{"message":"Incorrect API key provided: sk-proj-abcdefgh12345678"}}"#,
    );
    assert!(!refused.public.contains("sk-") && refused.code.is_none());
}

#[test]
fn passed_texts_hold_no_keys_and_no_inner_addresses() {
    let message = "Bad key 'sk-proj-ABCDEFGH12345678' with Bearer abcdef at http://10.0.0.5:8000/v1 (10.1.2.3:99, \
                   vllm.models.svc.cluster.local:8000). See https://platform.openai.com/docs. Task sk-ip it, keep 3.5:1 and a.b";
    let body = json!({"error": {"message": message}}).to_string();
    let public = Chat.decode_error(400, body.as_bytes()).public;
    for secret in ["ABCDEFGH", "abcdef ", "10.0.0.5", "10.1.2.3", "cluster.local"] {
        assert!(!public.contains(secret), "{secret}: {public}");
    }
    assert!(public.contains("https://platform.openai.com/docs"), "{public}");
    assert!(public.contains("keep") && public.contains("a.b"), "{public}");
}

#[test]
fn an_error_is_rendered_with_all_four_keys() {
    let table = [
        (ErrorKind::BadRequest, 400, "invalid_request_error", Value::Null),
        (ErrorKind::Unauthorized, 401, "invalid_request_error", json!("invalid_api_key")),
        (ErrorKind::QuotaExhausted, 429, "insufficient_quota", json!("insufficient_quota")),
        (ErrorKind::NotFound, 404, "invalid_request_error", Value::Null),
        (ErrorKind::ContextTooLong, 400, "invalid_request_error", json!("context_length_exceeded")),
        (ErrorKind::RateLimited, 429, "rate_limit_error", json!("rate_limit_exceeded")),
        (ErrorKind::TooLarge, 413, "invalid_request_error", json!("request_too_large")),
        (ErrorKind::Overloaded, 503, "service_unavailable_error", json!("server_is_overloaded")),
        (ErrorKind::Timeout, 504, "server_error", json!("timeout")),
        (ErrorKind::UpstreamBroken, 502, "server_error", Value::Null),
        (ErrorKind::Internal, 500, "server_error", Value::Null),
    ];
    for (kind, status, word, code) in table {
        for dialect in [&Chat as &dyn Dialect, &Responses] {
            let mut out = Vec::new();
            let error = Error::new(kind, ErrorOrigin::Caller, "why \"so\"");
            assert_eq!(dialect.render_error(&error, "req_1", &mut out), status);
            let body: Value = serde_json::from_slice(&out).unwrap();
            assert_eq!(
                body,
                json!({"error": {"message": "why \"so\"", "type": word, "param": null, "code": code}})
            );
        }
    }
    let mut out = Vec::new();
    let error = Error::bad_request("messages[0].role", "x").with_code("invalid_value");
    Chat.render_error(&error, "", &mut out);
    let body: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(
        (&body["error"]["param"], &body["error"]["code"]),
        (&json!("messages[0].role"), &json!("invalid_value"))
    );
}

#[test]
fn texts_pass_and_codes_that_are_none_do_not() {
    let decode = |status: u16, error: Value| {
        Chat.decode_error(status, json!({ "error": error }).to_string().as_bytes())
    };
    assert_eq!(decode(500, json!({"message": "X"})).public, "X");
    for (code, shown) in [
        (json!("invalid_image_url"), Some("invalid_image_url")),
        (json!("429"), None),
        (json!(429), None),
        (json!("see the docs"), None),
        (json!("sk-proj-ABCDEFGH12345678"), None),
        (json!(""), None),
    ] {
        assert_eq!(decode(400, json!({"message": "X", "code": code})).code.as_deref(), shown);
    }
    for (status, retry) in [(404, Retry::Elsewhere), (408, Retry::Elsewhere), (504, Retry::Elsewhere)] {
        assert_eq!(decode(status, json!({})).retry, retry);
    }
}

#[test]
fn errors_inside_of_answers_are_classed_by_their_words() {
    let table = [
        (r#"{"code":"rate_limit_exceeded","message":"m"}"#, ErrorKind::RateLimited, "m"),
        (r#"{"code":"server_error","message":"m"}"#, ErrorKind::UpstreamBroken, "m"),
        (
            r#"{"code":"invalid_image_url","type":"invalid_request_error","message":"m"}"#,
            ErrorKind::BadRequest,
            "m",
        ),
        (r#"{"code":"invalid_prompt","message":"m"}"#, ErrorKind::BadRequest, "m"),
        (r#"{"type":"overloaded_error","message":"m"}"#, ErrorKind::Overloaded, "m"),
        (r#"{"code":503,"message":"m"}"#, ErrorKind::Overloaded, "m"),
        (r#""only words""#, ErrorKind::UpstreamBroken, "only words"),
        ("null", ErrorKind::UpstreamBroken, "The upstream failed with status 502."),
    ];
    for (json, kind, text) in table {
        let error = super::in_answer(json);
        assert_eq!((error.kind, &*error.public), (kind, text), "{json}");
        assert_eq!(error.upstream.unwrap().status, None);
    }
}

#[test]
fn a_client_reads_of_the_fields_it_wrote() {
    let error = Error::bad_request("input[0].content[1]", "'input[0].content[1]' is a film.");
    for (dialect, param) in [
        (&Chat as &dyn Dialect, "messages[0].content[1]"),
        (&Responses as &dyn Dialect, "input[0].content[1]"),
    ] {
        let mut out = Vec::new();
        dialect.render_error(&error, "", &mut out);
        let body: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(body["error"]["param"], param);
        assert_eq!(body["error"]["message"], format!("'{param}' is a film."));
    }
}

#[test]
fn golden_errors_pass_through() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../golden/chat/");
    for (case, status) in [("error-rate-limit", 429), ("error-context", 400)] {
        let body = std::fs::read(format!("{root}{case}/error.json")).unwrap();
        let mut out = Vec::new();
        assert_eq!(Chat.render_error(&Chat.decode_error(status, &body), "", &mut out), status);
        let (found, wanted): (Value, Value) =
            (serde_json::from_slice(&out).unwrap(), serde_json::from_slice(&body).unwrap());
        assert_eq!(found, wanted, "{case}");
    }
}
