//! Servers that do not keep to HTTP, and requests that cannot be sent.

use super::*;
use crate::ErrorKind;

async fn error_for(answer: &'static [u8]) -> ErrorKind {
    let address = serve(move |_, mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(answer).await.ok();
    })
    .await;
    let outcome = async {
        let response = client().send(get(&format!("http://{address}/"))).await?;
        response.into_body().collect(1 << 20).await
    };
    soon(outcome).await.unwrap_err().kind()
}

#[tokio::test]
async fn malformed_heads_are_protocol_errors() {
    for answer in [
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n".as_slice(),
        b"\x16\x03\x01\x00\x02\x02\x28",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nbad header line\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
        b"HTTP/2.0 200 OK\r\n\r\n",
    ] {
        let kind = error_for(answer).await;
        assert_eq!(kind, ErrorKind::Protocol, "{}", String::from_utf8_lossy(answer));
    }
}

#[tokio::test]
async fn malformed_bodies_are_protocol_errors() {
    for body in [b"zz\r\nhello\r\n".as_slice(), b"5\r\nhelloXX0\r\n\r\n", b"fffffffffffffffff\r\nhello\r\n"] {
        let answer = [CHUNKED, body].concat().leak();
        assert_eq!(error_for(answer).await, ErrorKind::Protocol);
    }
}

#[tokio::test]
async fn bodies_that_break_off_are_closed_errors_after_their_bytes() {
    assert_eq!(error_for(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello").await, ErrorKind::Closed);
    let address = serve(move |_, mut stream| async move {
        read_request(&mut stream).await;
        let answer = [CHUNKED, &chunk(b"hello"), b"9\r\nwor"].concat();
        stream.write_all(&answer).await.unwrap();
    })
    .await;
    let mut body = soon(client().send(get(&format!("http://{address}/")))).await.unwrap().into_body();
    let mut all = Vec::new();
    let error = loop {
        match soon(body.chunk()).await.unwrap() {
            Ok(bytes) => all.extend_from_slice(&bytes),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert_eq!(all, b"hellowor");
    assert!(soon(body.chunk()).await.is_none());
}

#[tokio::test]
async fn head_floods_are_cut() {
    let flood = [b"x-filler: ".as_slice(), &[b'a'; 4096], b"\r\n"].concat();
    let address = serve(move |_, mut stream| {
        let flood = flood.clone();
        async move {
            read_request(&mut stream).await;
            stream.write_all(b"HTTP/1.1 200 OK\r\n").await.unwrap();
            while stream.write_all(&flood).await.is_ok() {}
        }
    })
    .await;
    let error = soon(client().send(get(&format!("http://{address}/")))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge);

    let mut many = b"HTTP/1.1 200 OK\r\n".to_vec();
    for number in 0..500 {
        many.extend(format!("x-{number}: 1\r\n").bytes());
    }
    many.extend(b"\r\n");
    assert_eq!(error_for(many.leak()).await, ErrorKind::TooLarge);
}

#[tokio::test]
async fn collect_stops_at_its_limit() {
    let address = serve(|_, stream| answer_all(stream, plain(&[b'x'; 100_000], ""))).await;
    let client = client();
    let response = soon(client.send(get(&format!("http://{address}/")))).await.unwrap();
    let error = soon(response.into_body().collect(99_999)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert_eq!(client.stats().idle, 0);
}

#[tokio::test]
async fn unusable_requests_are_refused_before_anything_is_sent() {
    let client = client();
    for url in ["ftp://host/", "/path/only", "http://user:hunter2@host/", "ws://host/"] {
        let error = client.send(get(url)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{url}");
        assert!(!format!("{error:?}").contains("hunter2"));
    }
    let mut request = get("http://127.0.0.1:9/");
    request.method = Method::CONNECT;
    assert_eq!(client.send(request).await.unwrap_err().kind(), ErrorKind::Invalid);
    let request = get("http://user:hunter2@host/secret");
    let shown = format!("{request:?}");
    assert!(!shown.contains("hunter2") && !shown.contains("secret"), "{shown}");
}

#[tokio::test]
async fn unknown_hosts_are_resolve_errors() {
    let error = soon(client().send(get("http://no-such-host.invalid/"))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Resolve);
    assert!(error.retryable());
}

#[tokio::test]
async fn informational_answers_are_passed_over() {
    let address = serve(|_, stream| {
        let answer =
            [b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n".as_slice(), &plain(b"final", "")].concat();
        answer_all(stream, answer)
    })
    .await;
    let answer = client().send(get(&format!("http://{address}/"))).await;
    assert_eq!(soon(text(answer)).await, "final");
}
