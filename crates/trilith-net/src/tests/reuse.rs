//! Keep-alive, stale connections, request framing.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::{ErrorKind, PoolLimits};

#[tokio::test]
async fn one_connection_serves_requests_in_turn() {
    let address =
        serve(|number, stream| answer_all(stream, plain(format!("connection {number}").as_bytes(), "")))
            .await;
    let client = client();
    for _ in 0..5 {
        let answer = client.send(get(&format!("http://{address}/"))).await;
        assert_eq!(soon(text(answer)).await, "connection 0");
    }
    let stats = client.stats();
    assert_eq!((stats.opened, stats.reused, stats.idle), (1, 4, 1));
}

#[tokio::test]
async fn bodies_without_bytes_return_their_connection_at_once() {
    let address = serve(|_, stream| answer_all(stream, b"HTTP/1.1 204 No Content\r\n\r\n".to_vec())).await;
    let client = client();
    for _ in 0..3 {
        let answer = client.send(get(&format!("http://{address}/"))).await.unwrap();
        assert_eq!(answer.status(), 204);
        drop(answer);
    }
    assert_eq!(client.stats().opened, 1);
}

#[tokio::test]
async fn concurrent_requests_use_their_own_connections() {
    let address = serve(|_, stream| answer_all(stream, plain(b"ok", ""))).await;
    let client = client();
    let one = client.send(get(&format!("http://{address}/"))).await;
    let two = client.send(get(&format!("http://{address}/"))).await;
    assert_eq!(soon(text(one)).await, "ok");
    assert_eq!(soon(text(two)).await, "ok");
    assert_eq!((client.stats().opened, client.stats().idle), (2, 2));
}

/// As a server's workers are: each thread with a runtime of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_is_given_the_connection_that_it_opened() {
    let address =
        serve(|number, stream| answer_all(stream, plain(format!("connection {number}").as_bytes(), "")))
            .await;
    let url = format!("http://{address}/");
    let client = Arc::new(client());
    let held = client.send(get(&url)).await;
    let ((tell, told), (go, wait)) = (std::sync::mpsc::channel(), std::sync::mpsc::channel());
    let (theirs, there) = (Arc::clone(&client), url.clone());
    let other = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let ask = || runtime.block_on(async { soon(text(theirs.send(get(&there)).await)).await });
        let first = ask();
        tell.send(()).unwrap();
        wait.recv().unwrap();
        (first, ask())
    });
    told.recv().unwrap();
    assert_eq!(soon(text(held)).await, "connection 0");
    go.send(()).unwrap();
    assert_eq!(other.join().unwrap(), ("connection 1".to_owned(), "connection 1".to_owned()));
    assert_eq!(soon(text(client.send(get(&url)).await)).await, "connection 0");
    assert_eq!((client.stats().opened, client.stats().reused), (2, 2));
}

#[tokio::test]
async fn a_connection_closed_while_idle_is_not_used() {
    let address = serve(|_, mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(&plain(b"ok", "")).await.unwrap();
    })
    .await;
    let client = client();
    for _ in 0..3 {
        let answer = client.send(get(&format!("http://{address}/"))).await;
        assert_eq!(soon(text(answer)).await, "ok");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let stats = client.stats();
    assert_eq!((stats.opened, stats.reused, stats.resent), (3, 0, 0));
    client.close_stale();
    assert_eq!(client.stats().idle, 0);
}

/// The server reads the second request on the first connection and closes without a word.
#[tokio::test]
async fn a_request_lost_on_a_reused_connection_is_sent_again() {
    let bodies = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&bodies);
    let address = serve(move |number, mut stream| {
        let seen = Arc::clone(&seen);
        async move {
            while let Some((_, body)) = read_request(&mut stream).await {
                assert_eq!(body, b"payload");
                if number == 0 && seen.fetch_add(1, Ordering::SeqCst) == 1 {
                    return;
                }
                stream.write_all(&plain(b"ok", "")).await.unwrap();
            }
        }
    })
    .await;
    let client = client();
    for _ in 0..2 {
        let answer = client.send(post(&format!("http://{address}/"), b"payload")).await;
        assert_eq!(soon(text(answer)).await, "ok");
    }
    let stats = client.stats();
    assert_eq!((stats.opened, stats.resent), (2, 1));
}

#[tokio::test]
async fn a_request_lost_on_a_fresh_connection_is_reported() {
    let address = serve(|_, mut stream| async move {
        read_request(&mut stream).await;
    })
    .await;
    let error = soon(client().send(get(&format!("http://{address}/")))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert!(error.retryable());
}

#[tokio::test]
async fn an_answer_that_broke_off_is_not_sent_again() {
    let address = serve(|number, mut stream| async move {
        read_request(&mut stream).await;
        if number == 0 {
            stream.write_all(&plain(b"ok", "")).await.unwrap();
            read_request(&mut stream).await;
            stream.write_all(b"HTTP/1.1 2").await.unwrap();
        }
    })
    .await;
    let client = client();
    assert_eq!(soon(text(client.send(get(&format!("http://{address}/"))).await)).await, "ok");
    let error = soon(client.send(get(&format!("http://{address}/")))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert!(!error.retryable());
    assert_eq!(client.stats().opened, 1);
}

#[tokio::test]
async fn connection_close_and_limits_are_kept() {
    let address = serve(|_, stream| answer_all(stream, plain(b"ok", "connection: close\r\n"))).await;
    let closing = client();
    soon(text(closing.send(get(&format!("http://{address}/"))).await)).await;
    assert_eq!(closing.stats().idle, 0);

    let address = serve(|_, stream| answer_all(stream, plain(b"ok", ""))).await;
    let without = Client::new(ClientConfig {
        pool: PoolLimits { max_idle_per_origin: 0, ..PoolLimits::default() },
        ..ClientConfig::default()
    })
    .unwrap();
    soon(text(without.send(get(&format!("http://{address}/"))).await)).await;
    assert_eq!(without.stats().idle, 0);

    let short = Client::new(ClientConfig {
        pool: PoolLimits { max_idle_age: Duration::from_millis(30), ..PoolLimits::default() },
        ..ClientConfig::default()
    })
    .unwrap();
    for _ in 0..2 {
        soon(text(short.send(get(&format!("http://{address}/"))).await)).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(short.stats().opened, 2);
}

#[tokio::test]
async fn requests_are_framed_and_addressed() {
    let address = serve(|_, mut stream| async move {
        let (head, body) = read_request(&mut stream).await.unwrap();
        let echo = format!("{head}\n\n{}", String::from_utf8(body).unwrap());
        stream.write_all(&plain(echo.as_bytes(), "")).await.unwrap();
    })
    .await;
    let mut request = post(&format!("http://{address}/v1/x?q=1"), b"{}");
    request.accept_compressed = true;
    request.headers.insert("content-length", "7".parse().unwrap());
    request.headers.insert("transfer-encoding", "chunked".parse().unwrap());
    let echo = soon(text(client().send(request).await)).await;
    assert!(echo.starts_with("POST /v1/x?q=1 HTTP/1.1\r\n"), "{echo}");
    assert_eq!(header(&echo, "host"), Some(address.to_string().as_str()));
    assert_eq!(header(&echo, "content-length"), Some("2"));
    assert_eq!(header(&echo, "transfer-encoding"), None);
    assert_eq!(header(&echo, "accept-encoding"), Some("gzip, br, zstd, deflate"));
    assert!(echo.ends_with("\n\n{}"), "{echo}");
}

#[tokio::test]
async fn ipv6_literals_work() {
    let Ok(listener) = TcpListener::bind("[::1]:0").await else {
        return;
    };
    let port = listener.local_addr().unwrap().port();
    start(async move {
        while let Ok((stream, _)) = listener.accept().await {
            start(answer_all(stream, plain(b"six", "")));
        }
    });
    let answer = client().send(get(&format!("http://[::1]:{port}/"))).await;
    assert_eq!(soon(text(answer)).await, "six");
}

#[test]
fn hop_by_hop_headers_go() {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("connection", "close, X-Mine"),
        ("x-mine", "1"),
        ("keep-alive", "timeout=5"),
        ("te", "trailers"),
        ("upgrade", "h2c"),
        ("proxy-authorization", "Basic x"),
        ("x-other", "stays"),
    ] {
        headers.insert(name, value.parse().unwrap());
    }
    crate::strip_hop_by_hop(&mut headers);
    assert_eq!(headers.keys().map(|k| k.as_str()).collect::<Vec<_>>(), ["x-other"]);
}
