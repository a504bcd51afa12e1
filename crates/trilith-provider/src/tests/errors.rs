//! What a place makes of failures.

use std::time::Duration;

use tokio::net::TcpListener;
use trilith_core::{ErrorKind, ErrorOrigin, RelayCall, Retry, Upstream, Wanted};
use trilith_dialect::chat::Chat;

use super::server::{JSON, KEY, SSE, Says, call, chat, chunked, drain, http, place, refused, settings};

const SLOW_DOWN: &str = r#"{"error":{"message":"Slow down.","type":"rate_limit_error","code":"rate_limit_exceeded","param":null}}"#;

#[tokio::test]
async fn an_error_answer_is_told_with_the_pause_it_asks_for() {
    let cases = [
        ("retry-after: 2\r\n", Some(Duration::from_secs(2))),
        ("retry-after-ms: 250\r\nretry-after: 2\r\n", Some(Duration::from_millis(250))),
        ("retry-after: 0.5\r\n", Some(Duration::from_millis(500))),
        ("", None),
        ("retry-after: -1\r\n", None),
        ("retry-after: NaN\r\n", None),
        ("retry-after: 1e400\r\n", None),
        ("retry-after: soon\r\n", None),
        ("retry-after-ms: soon\r\nretry-after: 2\r\n", Some(Duration::from_secs(2))),
    ];
    for (headers, pause) in cases {
        let (place, _) = chat(http("429 Too Many Requests", &format!("{JSON}{headers}"), SLOW_DOWN)).await;
        let error = refused(&place, true).await;
        assert_eq!((error.kind, error.origin), (ErrorKind::RateLimited, ErrorOrigin::Upstream), "{headers}");
        assert_eq!(error.retry, Retry::Same(pause), "{headers}");
        assert_eq!((&*error.public, error.code.as_deref()), ("Slow down.", Some("rate_limit_exceeded")));
        assert_eq!(error.upstream.unwrap().status, Some(429));
    }
}

#[tokio::test]
async fn a_pause_changes_nothing_where_waiting_does_not_help() {
    let cases = [
        ("400 Bad Request", ErrorKind::BadRequest, Retry::Never),
        ("401 Unauthorized", ErrorKind::UpstreamBroken, Retry::Elsewhere),
        ("403 Forbidden", ErrorKind::UpstreamBroken, Retry::Elsewhere),
        ("404 Not Found", ErrorKind::NotFound, Retry::Elsewhere),
        ("503 Unavailable", ErrorKind::Overloaded, Retry::Same(Some(Duration::from_secs(9)))),
        ("500 Sorry", ErrorKind::UpstreamBroken, Retry::Same(Some(Duration::from_secs(9)))),
    ];
    for (status, kind, retry) in cases {
        let (place, _) = chat(http(status, "retry-after: 9\r\n", "")).await;
        let error = refused(&place, false).await;
        assert_eq!((error.kind, error.retry), (kind, retry), "{status}");
        assert!(!error.public.is_empty());
    }
}

#[tokio::test]
async fn a_relay_fails_like_a_call() {
    let (place, _) = chat(http("429 Too Many Requests", JSON, SLOW_DOWN)).await;
    let relay = RelayCall {
        body: "{}".into(),
        wanted: Wanted::Answer,
        stream: true,
        model: "m".into(),
        headers: Vec::new(),
    };
    let relayed = place.relay(relay).await.err().unwrap();
    assert_eq!(relayed, refused(&place, true).await);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (place, server) = chat(http("307 Moved", "location: http://127.0.0.1:1/steal\r\n", "")).await;
    let error = refused(&place, true).await;
    assert_eq!((error.kind, error.origin), (ErrorKind::UpstreamBroken, ErrorOrigin::Upstream));
    assert!(!error.public.contains("127.0.0.1"));
    server.only();
}

#[tokio::test]
async fn an_error_body_without_end_or_sense_leaves_the_status_to_speak() {
    let huge = "x".repeat(4 << 20);
    let cut = b"HTTP/1.1 503 Unavailable\r\ncontent-length: 100\r\n\r\n{".to_vec();
    let bodies = [
        http("503 Unavailable", JSON, &huge),
        http("503 Unavailable", "content-type: text/html\r\n", "<html>down</html>"),
        http("503 Unavailable", "", ""),
        Says::Bytes(cut),
    ];
    for says in bodies {
        let (place, _) = chat(says).await;
        let error = refused(&place, true).await;
        assert_eq!(error.kind, ErrorKind::Overloaded);
        assert!(error.public.len() < 300 && !error.public.is_empty());
    }
}

#[tokio::test]
async fn a_place_that_is_not_there_is_not_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let place = place(settings(format!("http://{address}/v1"), &Chat));
    let error = refused(&place, false).await;
    assert_eq!((error.kind, error.retry), (ErrorKind::UpstreamBroken, Retry::Elsewhere));
    assert!(!error.public.contains("127.0.0.1"));
}

#[tokio::test]
async fn a_connection_that_closes_before_the_answer_may_be_tried_again() {
    let (place, _) = chat(Says::Bytes(Vec::new())).await;
    let error = refused(&place, false).await;
    assert_eq!((error.kind, error.retry), (ErrorKind::UpstreamBroken, Retry::Same(None)));
    let (place, _) = chat(Says::Bytes(b"SMTP ready\r\n\r\n".to_vec())).await;
    assert_eq!(refused(&place, false).await.kind, ErrorKind::UpstreamBroken);
}

#[tokio::test]
async fn the_key_is_told_by_nobody() {
    // In the error of an answer, of a stream and of a whole answer; in its text, its code and its type.
    let told = format!(
        r#"{{"error":{{"message":"key={KEY}; is bad","type":"{KEY}","code":"{KEY}","param":"{KEY}"}}}}"#
    );
    let stream = chunked(SSE, &[&format!("data: {told}\n\n")], true);
    let answers = [http("400 Bad Request", JSON, &told), http("200 OK", JSON, &told), Says::Bytes(stream)];
    for says in answers {
        let (place, _) = chat(says).await;
        let error = match place.call(call(true)).await {
            Err(error) => error,
            Ok(answer) => drain(answer).await.1.unwrap(),
        };
        let all = format!("{error:?} {:?} {:?} {:?}", error.code, error.param, error.upstream);
        assert!(!all.contains(KEY), "{all}");
    }
}
