//! What a place sends.

use bytes::Bytes;
use trilith_core::{Disposition, RelayCall, Upstream, Wanted};
use trilith_dialect::{chat::Chat, messages::Messages, responses::Responses};

use super::server::{JSON, KEY, Server, WHOLE, call, chat, http, place, settings};

#[tokio::test]
async fn addresses_are_joined_as_configured() {
    let cases = [
        ("/v1", None, "POST /v1/chat/completions HTTP/1.1"),
        ("", None, "POST /chat/completions HTTP/1.1"),
        ("/a/b", Some("/chat?api-version=2024-10-21"), "POST /a/b/chat?api-version=2024-10-21 HTTP/1.1"),
    ];
    for (base, path, line) in cases {
        let server = Server::default();
        let address = server.start(http("200 OK", JSON, WHOLE)).await;
        let mut settings = settings(format!("http://{address}{base}"), &Chat);
        settings.path = path.map(Into::into);
        place(settings).call(call(false)).await.unwrap();
        assert_eq!(server.only().line, line);
        assert_eq!(server.only().all("host"), [address.to_string()]);
    }
    let server = Server::default();
    let address = server.start(http("500 Sorry", "", "")).await;
    let place = place(settings(format!("http://{address}/v1"), &Responses));
    assert!(place.call(call(false)).await.is_err());
    assert_eq!(server.only().line, "POST /v1/responses HTTP/1.1");
}

#[tokio::test]
async fn a_request_carries_the_places_headers_and_the_clients() {
    let server = Server::default();
    let address = server.start(http("200 OK", JSON, WHOLE)).await;
    let mut settings = settings(format!("http://{address}/v1"), &Chat);
    settings.headers = vec![("OpenAI-Project".into(), "proj_1".into()), ("x-note".into(), "ours".into())];
    let mut call = call(false);
    let brought = [
        ("openai-beta", "assistants=v2"),
        // What no allowlist lets through; the place itself refuses it too.
        ("authorization", "Bearer of-the-caller"),
        ("x-api-key", "of-the-caller"),
        ("cookie", "of-the-caller"),
        ("host", "of-the-caller"),
        ("content-length", "1"),
        ("content-type", "text/plain"),
        ("accept", "text/plain"),
        ("bad name", "of-the-caller"),
        ("x-line", "of-the\r\n-caller"),
    ];
    call.headers = brought.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    place(settings).call(call).await.unwrap();
    let asked = server.only();
    assert_eq!(asked.all("authorization"), [format!("Bearer {KEY}")]);
    assert_eq!(asked.all("content-type"), ["application/json"]);
    assert_eq!(asked.all("openai-project"), ["proj_1"]);
    assert_eq!(asked.all("x-note"), ["ours"]);
    assert_eq!(asked.all("openai-beta"), ["assistants=v2"]);
    assert!(!format!("{asked:?}").contains("-caller"));
    assert!(asked.all("accept").is_empty());
    assert!(asked.body.contains("\"up-small\"") && asked.body.contains("hello"));
}

#[tokio::test]
async fn a_place_without_a_key_sends_none() {
    let server = Server::default();
    let address = server.start(http("200 OK", JSON, WHOLE)).await;
    let mut settings = settings(format!("http://{address}/v1"), &Chat);
    settings.api_key = None;
    let mut call = call(false);
    call.headers = vec![("authorization".into(), "Bearer of-the-caller".into())];
    place(settings).call(call).await.unwrap();
    assert!(server.only().all("authorization").is_empty());
}

#[tokio::test]
async fn a_stream_is_asked_for_in_the_header_too() {
    let (place, server) = chat(http("200 OK", JSON, WHOLE)).await;
    place.call(call(true)).await.unwrap();
    assert_eq!(server.only().all("accept"), ["text/event-stream"]);
    assert!(server.only().body.contains("\"stream\":true"));
}

#[tokio::test]
async fn relayed_bytes_pass_untouched() {
    let (place, server) = chat(http("200 OK", JSON, WHOLE)).await;
    let body = "{ \"model\":\"x\",  \"unknown\": 1e2 }";
    let relay = RelayCall {
        body: Bytes::from_static(body.as_bytes()),
        wanted: Wanted::Answer,
        stream: false,
        model: "x".into(),
        headers: vec![("openai-beta".into(), "b".into())],
    };
    place.relay(relay).await.unwrap();
    let asked = server.only();
    assert_eq!(asked.body, body);
    assert_eq!(asked.all("openai-beta"), ["b"]);
    assert_eq!(asked.all("authorization"), [format!("Bearer {KEY}")]);
}

#[tokio::test]
async fn strict_mode_sends_nothing_that_would_lose_something() {
    let lossy = || {
        let mut call = call(false);
        let mut turn = (*call.turn).clone();
        let mut settings = (*turn.settings).clone();
        settings.sampling.seed = Some(7);
        turn.settings = std::sync::Arc::new(settings);
        call.turn = std::sync::Arc::new(turn);
        call
    };
    let server = Server::default();
    let address = server.start(http("200 OK", JSON, WHOLE)).await;
    let mut settings = settings(format!("http://{address}/v1"), &Chat);
    settings.quirks.drop_fields = vec!["seed".into()];
    let place = place(settings);
    let mut strict = lossy();
    strict.strict = true;
    let error = place.call(strict).await.err().unwrap();
    assert_eq!(error.code.as_deref(), Some("strict_loss"));
    assert_eq!(error.origin, trilith_core::ErrorOrigin::Caller);
    assert!(error.param.is_some());
    assert!(server.asked.lock().unwrap().is_empty());

    let answer = place.call(lossy()).await.unwrap();
    assert!(answer.losses.iter().any(|loss| loss.disposition == Disposition::Warn));
    server.only();
}

#[tokio::test]
async fn the_models_are_those_that_the_place_lists() {
    let (listing, server) =
        chat(http("200 OK", JSON, r#"{"object":"list","data":[{"id":"b"},{"id":"a","x":1}]}"#)).await;
    let models = listing.models().await.unwrap();
    assert_eq!(models, ["b".into(), Box::<str>::from("a")]);
    assert_eq!(server.only().line, "GET /v1/models HTTP/1.1");
    assert_eq!(server.only().all("authorization"), [format!("Bearer {KEY}")]);

    let server = Server::default();
    let address = server.start(http("200 OK", JSON, "[]")).await;
    let mut settings = settings(format!("http://{address}"), &Chat);
    settings.models_path = Some("/api/tags".into());
    let error = place(settings).models().await.err().unwrap();
    assert_eq!(error.kind, trilith_core::ErrorKind::UpstreamBroken);
    assert_eq!(server.only().line, "GET /api/tags HTTP/1.1");

    let (missing, _) = chat(http("404 Not Found", "", "no such page")).await;
    assert_eq!(missing.models().await.err().unwrap().kind, trilith_core::ErrorKind::NotFound);
}

#[tokio::test]
async fn input_tokens_are_counted_below_the_requests_path() {
    for (path, line) in [
        (None, "POST /v1/messages/count_tokens HTTP/1.1"),
        (Some("/up/messages"), "POST /v1/up/messages/count_tokens HTTP/1.1"),
    ] {
        let server = Server::default();
        let address = server.start(http("200 OK", JSON, r#"{"input_tokens":14}"#)).await;
        let mut settings = settings(format!("http://{address}/v1"), &Messages);
        settings.path = path.map(Into::into);
        let place = place(settings);
        assert_eq!(place.count(call(true)).await.unwrap().unwrap().tokens, 14);
        let asked = server.only();
        assert_eq!((asked.line.as_str(), asked.all("accept").len()), (line, 0));
        assert!(!asked.body.contains("max_tokens") && !asked.body.contains("stream"), "{}", asked.body);
        let relay = RelayCall {
            body: "{}".into(),
            wanted: Wanted::InputTokens,
            stream: false,
            model: "m".into(),
            headers: Vec::new(),
        };
        place.relay(relay).await.unwrap();
        assert_eq!(server.asked.lock().unwrap()[1].line, line);
    }
}

#[tokio::test]
async fn a_place_may_not_be_able_to_count() {
    let (place, server) = chat(http("200 OK", JSON, "{}")).await;
    assert!(place.count(call(false)).await.unwrap().is_none());
    assert!(server.asked.lock().unwrap().is_empty());
    let known = r#"{"type":"error","error":{"type":"not_found_error","message":"model: m"}}"#;
    for (status, body, unable) in [
        ("404 Not Found", r#"{"detail":"Not Found"}"#, true),
        ("405 Method Not Allowed", "<html>", true),
        ("501 Not Implemented", "", true),
        ("404 Not Found", known, false),
        ("500 Sorry", "", false),
        ("200 OK", "<html>", false),
    ] {
        let server = Server::default();
        let address = server.start(http(status, JSON, body)).await;
        let place = super::server::place(settings(format!("http://{address}/v1"), &Messages));
        let answer = place.count(call(false)).await;
        assert_eq!(matches!(answer, Ok(None)), unable, "{status} {body}");
        assert_eq!(answer.is_err(), !unable, "{status} {body}");
    }
}
