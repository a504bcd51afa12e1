//! Errors, both ways.

use serde_json::{Value, json};
use trilith_core::{Error, ErrorKind, ErrorOrigin, Retry};

use crate::{Dialect, chat::Chat};

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
        (529, String::new(), ErrorKind::Overloaded),
    ];
    for (status, body, kind) in table {
        let error = Chat.decode_error(status, body.as_bytes());
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
        (ErrorKind::Overloaded, 503, "server_error", json!("server_is_overloaded")),
        (ErrorKind::Timeout, 504, "server_error", json!("timeout")),
        (ErrorKind::UpstreamBroken, 502, "server_error", Value::Null),
        (ErrorKind::Internal, 500, "server_error", Value::Null),
    ];
    for (kind, status, word, code) in table {
        let mut out = Vec::new();
        let error = Error::new(kind, ErrorOrigin::Caller, "why \"so\"");
        assert_eq!(Chat.render_error(&error, "req_1", &mut out), status);
        let body: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(
            body,
            json!({"error": {"message": "why \"so\"", "type": word, "param": null, "code": code}})
        );
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
