//! The mock over real sockets.

#[cfg(test)]
mod client;

use std::time::Duration;

use client::{Mock, chat, completions, messages, responses};
use trilith_core::DialectId;

const HELLO: &str = "\
--- answer
think Let me see.
text Hello,
wait 5ms
text \" world\"
usage input=12 cached=4 output=7 reasoning=2
finish stop
";

#[tokio::test]
async fn one_script_plays_in_every_dialect_streamed_and_whole() {
    for dialect in trilith_dialect::DIALECTS {
        let mock = Mock::start(HELLO, dialect.id()).await;
        let body = match dialect.id() {
            DialectId::Chat => chat,
            DialectId::Responses => responses,
            DialectId::Messages => messages,
            DialectId::Completions => completions,
            other => panic!("no request known for {other:?}"),
        };
        let mut client = mock.connect().await;
        let whole = client.post(dialect.path(), &body(false)).await;
        assert_eq!(whole.status, 200);
        assert!(whole.json().to_string().contains("Hello, world"), "{}", whole.text());
        let stream = client.post(dialect.path(), &body(true)).await;
        assert_eq!(stream.header("content-type"), Some("text/event-stream; charset=utf-8"));
        let thinks = dialect.id() != DialectId::Completions;
        assert!(stream.text().contains("Hello,"));
        assert_eq!(stream.text().contains("Let me see."), thinks);
        assert_eq!(trilith_testkit::order::check(dialect.id(), &stream.body), Ok(()));
        // The same connection again: the last answer repeats.
        assert_eq!(client.post(dialect.path(), &body(false)).await.status, 200);
        let seen = mock.recorder.lines();
        assert_eq!(seen.len(), 3);
        assert_eq!(seen[0]["method"], "POST");
        assert_eq!(seen[1]["body"]["stream"], true);
        assert_eq!(seen[0]["headers"]["authorization"], "Bearer k");
    }
}

#[tokio::test]
async fn answers_come_in_order_or_by_what_the_request_says() {
    let script = "at-end refuse\n--- answer when \"weather\"\ntext W\n--- answer\ntext 1\n--- answer\nerror 429 rate_limit_exceeded slow down\nheader retry-after: 1\n";
    let mock = Mock::start(script, DialectId::Chat).await;
    let mut client = mock.connect().await;
    let ask = |text: &str| chat(false).replace("hi", text);
    let mut texts = Vec::new();
    for text in ["a", "weather?", "b", "weather!", "c"] {
        let answer = client.post("/chat/completions", &ask(text)).await;
        texts.push((answer.status, answer.header("retry-after").is_some()));
    }
    assert_eq!(texts, [(200, false), (200, false), (429, true), (200, false), (500, false)]);
}

#[tokio::test]
async fn bytes_go_out_verbatim_and_the_answer_ends_where_the_script_says() {
    let script = "--- answer\nstream\nline data: {\"x\":1}\nline\nbytes ff fe\nclose\n--- answer\ntext 0123456789\nclose after 37\n--- answer\ntext x\nreset after 5\n--- answer\ntext x\nno-finish\nuntil-close\n";
    let mock = Mock::start(script, DialectId::Chat).await;
    let verbatim = mock.connect().await.post("/chat/completions", &chat(true)).await;
    assert_eq!(verbatim.body, b"data: {\"x\":1}\n\n\xff\xfe");
    assert!(!verbatim.whole);
    let cut = mock.connect().await.post("/chat/completions", &chat(true)).await;
    assert_eq!((cut.body.len(), cut.whole), (37, false));
    let reset = mock.connect().await.try_post("/chat/completions", &chat(true)).await;
    assert_eq!(reset.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    let open_ended = mock.connect().await.post("/chat/completions", &chat(true)).await;
    assert!(open_ended.text().contains("\"x\"") && !open_ended.text().contains("[DONE]"));
}

#[tokio::test]
async fn compressed_pieces_can_be_read_as_they_come() {
    use std::io::Read;
    for coding in ["gzip", "br", "zstd"] {
        let script = format!("--- answer\n{coding}\nchunk 1\nlines crlf\nrepeat 20 text abc\n");
        let mock = Mock::start(&script, DialectId::Responses).await;
        let answer = mock.connect().await.post("/responses", &responses(true)).await;
        assert_eq!(answer.header("content-encoding"), Some(coding));
        let mut text = String::new();
        match coding {
            "gzip" => drop(flate2::read::GzDecoder::new(&*answer.body).read_to_string(&mut text).unwrap()),
            "br" => drop(brotli::Decompressor::new(&*answer.body, 4096).read_to_string(&mut text).unwrap()),
            _ => {
                let mut rest = &*answer.body;
                while !rest.is_empty() {
                    let mut frame = ruzstd::decoding::StreamingDecoder::new(&mut rest).unwrap();
                    frame.read_to_string(&mut text).unwrap();
                }
            }
        }
        assert!(text.contains("response.completed") && text.ends_with("\r\n\r\n"), "{coding}: {text}");
        assert_eq!(text.matches("\n").count(), text.matches("\r\n").count());
    }
}

#[tokio::test]
async fn a_client_that_leaves_is_recorded_even_in_a_silence() {
    let silent = ["--- answer\ntext a\nhang\n", "--- answer\ntext a\nwait 600s\ntext b\n"];
    for script in [silent[0], silent[1], "--- answer\ntext a\nrepeat 1000000 text more\n"] {
        let mock = Mock::start(script, DialectId::Chat).await;
        let mut client = mock.connect().await;
        client.send("POST", "/chat/completions", &chat(true)).await;
        client.read_until("\"a\"").await;
        drop(client);
        let event = mock.wait_for(|line| line["event"] == "disconnected").await;
        assert_eq!(event["request"], 1);
    }
}

#[tokio::test]
async fn wrong_requests_are_refused_in_the_dialect() {
    let mock = Mock::start(HELLO, DialectId::Chat).await;
    let mut client = mock.connect().await;
    assert_eq!(client.post("/chat/completions", "{").await.status, 400);
    assert_eq!(client.post("/responses", &chat(false)).await.status, 404);
    let models = client.request("GET", "/v1/models", "").await;
    assert_eq!(models.json()["data"][0]["id"], "mock");
    assert_eq!(client.request("PUT", "/chat/completions", "").await.status, 405);
    client.raw(b"nonsense\r\n\r\n").await;
    assert_eq!(client.answer().await.unwrap().status, 400);
}

#[tokio::test]
async fn large_and_chunked_bodies_are_read_whole() {
    let mock = Mock::start("--- answer\ntext ok\n", DialectId::Chat).await;
    let mut client = mock.connect().await;
    let large = chat(false).replace("hi", &"x".repeat(10 << 20));
    assert_eq!(client.post("/chat/completions", &large).await.status, 200);
    let body = chat(false);
    let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: m\r\ntransfer-encoding: chunked\r\n\r\n";
    let (a, b) = body.split_at(7);
    client.raw(format!("{head}7\r\n{a}\r\n{:x};x=y\r\n{b}\r\n0\r\nt: 1\r\n\r\n", b.len()).as_bytes()).await;
    assert_eq!(client.answer().await.unwrap().status, 200);
    client.raw(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n").await;
    assert_eq!(client.answer().await.unwrap().status, 413);
}

#[tokio::test]
async fn a_burst_comes_at_once_and_a_silence_lasts() {
    let mock = Mock::start("--- answer\nburst\nrepeat 32 text a\nwait 80ms\ntext b\n", DialectId::Chat).await;
    let mut client = mock.connect().await;
    client.send("POST", "/chat/completions", &chat(true)).await;
    let early = tokio::time::timeout(Duration::from_millis(60), client.read_until("\"b\"")).await;
    assert!(early.is_err());
    tokio::time::timeout(Duration::from_secs(5), client.read_until("\"b\"")).await.unwrap();
}

#[tokio::test]
async fn several_answers_calls_and_failures_play() {
    let script = "\
--- answer
open a get_weather
open b get_time
args a {\"city\":
args b {}
args a \"\\\"Paris\\\"}\"
--- answer
text part
fail server_error upstream fell over
--- answer
choice 0
text zero
choice 1
text one
";
    let mock = Mock::start(script, DialectId::Chat).await;
    let mut client = mock.connect().await;
    let tools = r#","tools":[{"type":"function","function":{"name":"get_weather"}},{"type":"function","function":{"name":"get_time"}}]}"#;
    let body = format!("{}{tools}", chat(false).trim_end_matches('}'));
    let answer = client.post("/chat/completions", &body).await.text();
    assert!(answer.contains(r#"{\"city\":\"Paris\"}"#), "{answer}");
    let failed = client.post("/chat/completions", &chat(true)).await.text();
    assert!(failed.contains("upstream fell over"), "{failed}");
    let body = chat(false).replace("\"stream\":false", "\"n\":2");
    let two = client.post("/chat/completions", &body).await.json();
    assert_eq!(two["choices"].as_array().unwrap().len(), 2, "{two}");
}

#[tokio::test]
async fn the_command_says_where_it_listens_or_what_is_wrong() {
    let folder = std::env::temp_dir().join(format!("trilith-mock-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("demo.mock");
    let dialect = trilith_dialect::dialect(DialectId::Chat).unwrap();
    let options = || trilith_mock::RunOptions {
        file: file.clone(),
        dialect,
        listen: "127.0.0.1:0".into(),
        record: Some(folder.join("requests.jsonl")),
    };
    let mut said = Vec::new();
    let missing = trilith_mock::run(options(), &mut |line| said.push(line.to_owned())).await;
    assert!(missing.unwrap_err().to_string().contains("demo.mock"));
    std::fs::write(&file, "--- answer\ntxt x\n").unwrap();
    let wrong = trilith_mock::run(options(), &mut |line| said.push(line.to_owned())).await;
    assert!(wrong.unwrap_err().to_string().contains("demo.mock:2: `txt`"));
    std::fs::write(&file, HELLO).unwrap();
    let mut print = |line: &str| said.push(line.to_owned());
    let runs = trilith_mock::run(options(), &mut print);
    assert!(tokio::time::timeout(Duration::from_millis(100), runs).await.is_err());
    assert_eq!(said.len(), 1);
    assert!(said[0].starts_with("listening on http://127.0.0.1:"), "{}", said[0]);
    assert_eq!(std::fs::read_to_string(folder.join("requests.jsonl")).unwrap(), "");
    std::fs::remove_dir_all(&folder).unwrap();
}
