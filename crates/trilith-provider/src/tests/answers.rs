//! What a place makes of an answer that promises success.

use futures_util::StreamExt;
use trilith_core::{ErrorKind, RelayCall, Retry, Upstream, Wanted};

use super::server::{
    FRAMES, JSON, SSE, Says, WHOLE, call, chat, chunked, drain, finished, http, impatient, open_ended, text,
};

#[tokio::test]
async fn an_answer_is_read_as_what_it_is_whatever_was_asked_for() {
    let stream = FRAMES.concat();
    let answers = [
        http("200 OK", JSON, WHOLE),
        http("200 OK", "content-type: Application/JSON; charset=utf-8\r\n", WHOLE),
        http("200 OK", SSE, &stream),
        http("201 Created", "content-type: text/event-stream; charset=utf-8\r\n", &stream),
        Says::Bytes(chunked(SSE, &FRAMES, true)),
        Says::Bytes(open_ended(SSE, &stream)),
    ];
    for says in answers {
        for asked in [false, true] {
            let (place, _) = chat(says.clone()).await;
            let (events, fault) = drain(place.call(call(asked)).await.unwrap()).await;
            assert_eq!((text(&events).as_str(), fault), ("hi there", None));
            assert!(finished(&events));
        }
    }
    // An answer that does not say what it is, is what was asked for; a whole one is known by its look.
    for (asked, body) in [(false, WHOLE), (true, WHOLE), (true, &*stream)] {
        let (place, _) = chat(http("200 OK", "", body)).await;
        let (events, fault) = drain(place.call(call(asked)).await.unwrap()).await;
        assert_eq!((text(&events).as_str(), fault), ("hi there", None));
    }
}

#[tokio::test]
async fn an_answer_that_was_whole_before_the_connection_broke_is_whole() {
    for frames in [&FRAMES[..], &FRAMES[..3]] {
        let (place, _) = chat(Says::Bytes(chunked(SSE, frames, false))).await;
        let (events, fault) = drain(place.call(call(true)).await.unwrap()).await;
        assert_eq!((text(&events).as_str(), fault), ("hi there", None));
        assert!(finished(&events));
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_is_told_so_after_what_came() {
    let cut = [
        Says::Bytes(chunked(SSE, &FRAMES[..2], false)),
        Says::Bytes(chunked(SSE, &FRAMES[..2], true)),
        Says::Bytes(open_ended(SSE, &FRAMES[..2].concat())),
        Says::Bytes(chunked(SSE, &[FRAMES[0], FRAMES[1], "data: {\"choi"], false)),
    ];
    for says in cut {
        let (place, _) = chat(says).await;
        let (events, fault) = drain(place.call(call(true)).await.unwrap()).await;
        assert_eq!(text(&events), "hi there");
        assert!(!finished(&events));
        let fault = fault.unwrap();
        assert_eq!(
            (fault.kind, fault.origin),
            (ErrorKind::UpstreamBroken, trilith_core::ErrorOrigin::Upstream)
        );
    }
    // A whole answer has to come whole.
    let half = format!("HTTP/1.1 200 OK\r\n{JSON}content-length: 900\r\n\r\n{WHOLE}");
    let (place, _) = chat(Says::Bytes(half.into_bytes())).await;
    assert_eq!(place.call(call(false)).await.err().unwrap().kind, ErrorKind::UpstreamBroken);
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_not_read() {
    let (place, _) = chat(http("200 OK", JSON, &"x".repeat((1 << 20) + 1))).await;
    let error = place.call(call(false)).await.err().unwrap();
    assert_eq!(error.kind, ErrorKind::UpstreamBroken);
    assert!(error.public.contains("too large"), "{error}");
}

#[tokio::test]
async fn silence_is_a_timeout() {
    let silent = impatient(Says::Stalls(Vec::new())).await;
    let error = silent.call(call(true)).await.err().unwrap();
    assert_eq!((error.kind, error.retry), (ErrorKind::Timeout, Retry::Elsewhere));
    let stalled = impatient(Says::Stalls(chunked(SSE, &FRAMES[..1], false))).await;
    let (events, fault) = drain(stalled.call(call(true)).await.unwrap()).await;
    assert_eq!(text(&events), "hi ");
    assert_eq!(fault.unwrap().kind, ErrorKind::Timeout);
}

#[tokio::test]
async fn only_headers_that_clients_read_are_passed_on() {
    let headers = "content-type: application/json\r\nset-cookie: a=b\r\nx-request-id: up-1\r\n\
                   x-ratelimit-remaining-requests: 9\r\nretry-after: 3\r\nopenai-organization: org-secret\r\n\
                   openai-processing-ms: 12\r\nserver: vendor\r\n";
    let (place, _) = chat(http("200 OK", headers, WHOLE)).await;
    let mut passed = place.call(call(false)).await.unwrap().headers;
    passed.sort();
    let expected = [
        ("openai-processing-ms", "12"),
        ("retry-after", "3"),
        ("x-ratelimit-remaining-requests", "9"),
        ("x-trilith-upstream-request-id", "up-1"),
    ];
    let expected = expected.map(|(name, value)| (Box::<str>::from(name), Box::<str>::from(value)));
    assert_eq!(passed, expected);
}

#[tokio::test]
async fn a_refusal_brings_its_headers_too() {
    let headers = "retry-after: 3\r\nanthropic-ratelimit-tokens-remaining: 0\r\nrequest-id: up-1\r\nset-cookie: a=b\r\n";
    let (place, _) = chat(http("429 Slow Down", headers, "{}")).await;
    let error = place.call(call(false)).await.err().unwrap();
    assert_eq!(error.retry, Retry::Same(Some(std::time::Duration::from_secs(3))));
    let told: Vec<&str> = error.headers.iter().flat_map(|all| all.iter()).map(|(name, _)| &**name).collect();
    assert_eq!(
        told,
        ["retry-after", "anthropic-ratelimit-tokens-remaining", "x-trilith-upstream-request-id"]
    );
}

#[tokio::test]
async fn relayed_answers_pass_byte_for_byte() {
    let odd = "data: {not json at all}\n\n";
    for (headers, asked, stream) in
        [(SSE, true, true), (JSON, true, false), ("", true, true), (SSE, false, true), ("", false, false)]
    {
        let (place, _) = chat(http("202 Accepted", headers, odd)).await;
        let relay = RelayCall {
            body: "{}".into(),
            wanted: Wanted::Answer,
            stream: asked,
            model: "m".into(),
            headers: Vec::new(),
        };
        let mut answer = place.relay(relay).await.unwrap();
        assert_eq!((answer.status, answer.stream), (202, stream));
        let mut bytes = Vec::new();
        while let Some(piece) = answer.body.next().await {
            bytes.extend_from_slice(&piece.unwrap());
        }
        assert_eq!(bytes, odd.as_bytes());
    }
}

#[tokio::test]
async fn a_relayed_answer_that_breaks_says_so() {
    let (place, _) = chat(Says::Bytes(chunked(SSE, &FRAMES[..1], false))).await;
    let relay = RelayCall {
        body: "{}".into(),
        wanted: Wanted::Answer,
        stream: true,
        model: "m".into(),
        headers: Vec::new(),
    };
    let mut answer = place.relay(relay).await.unwrap();
    assert_eq!(answer.body.next().await.unwrap().unwrap(), FRAMES[0]);
    assert_eq!(answer.body.next().await.unwrap().unwrap_err().kind, ErrorKind::UpstreamBroken);
    assert!(answer.body.next().await.is_none());
}
