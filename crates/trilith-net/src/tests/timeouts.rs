//! Every time limit, and that it names the right phase.

use super::*;
use crate::{ErrorKind, TimeoutPhase, Timeouts};

const SHORT: Duration = Duration::from_millis(60);

fn limits() -> Timeouts {
    Timeouts {
        connect: Duration::from_secs(10),
        first_byte: Duration::from_secs(10),
        idle: Duration::from_secs(10),
        total: None,
    }
}

async fn silent(mut stream: TcpStream) {
    read_request(&mut stream).await;
    read_request(&mut stream).await;
}

#[tokio::test]
async fn connect() {
    // The TLS handshake belongs to connecting, and this server never begins it.
    let address = serve(|_, stream| silent(stream)).await;
    let mut request = get(&format!("https://{address}/"));
    request.timeouts = Timeouts { connect: SHORT, ..limits() };
    let error = soon(client().send(request)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout(TimeoutPhase::Connect));
    assert!(error.retryable());
}

#[tokio::test]
async fn first_byte() {
    let address = serve(|_, stream| silent(stream)).await;
    let mut request = get(&format!("http://{address}/secret?key=1"));
    request.timeouts = Timeouts { first_byte: SHORT, ..limits() };
    let error = soon(client().send(request)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout(TimeoutPhase::FirstByte));
    assert!(error.retryable());
    assert!(!format!("{error} {error:?}").contains("secret"));
}

#[tokio::test]
async fn idle_after_some_bytes_also_on_a_reused_connection() {
    let address = serve(|_, mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(&plain(b"ok", "")).await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(CHUNKED).await.unwrap();
        stream.write_all(&chunk(b"one")).await.unwrap();
        silent(stream).await;
    })
    .await;
    let client = client();
    soon(text(client.send(get(&format!("http://{address}/"))).await)).await;
    let mut request = get(&format!("http://{address}/"));
    request.timeouts = Timeouts { idle: SHORT, ..limits() };
    let mut body = soon(client.send(request)).await.unwrap().into_body();
    assert_eq!(soon(body.chunk()).await.unwrap().unwrap(), "one");
    let error = soon(body.chunk()).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout(TimeoutPhase::Idle));
    assert!(soon(body.chunk()).await.is_none());
    assert_eq!(client.stats().opened, 1);
}

#[tokio::test]
async fn a_slow_reader_is_not_a_silent_server() {
    let address = serve(|_, mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(CHUNKED).await.unwrap();
        for _ in 0..3 {
            stream.write_all(&chunk(b"x")).await.unwrap();
            tokio::time::sleep(SHORT * 2).await;
        }
        stream.write_all(b"0\r\n\r\n").await.unwrap();
        silent(stream).await;
    })
    .await;
    let mut request = get(&format!("http://{address}/"));
    request.timeouts = Timeouts { idle: SHORT * 4, ..limits() };
    let mut body = soon(client().send(request)).await.unwrap().into_body();
    let mut read = 0;
    loop {
        tokio::time::sleep(SHORT * 5).await;
        match soon(body.chunk()).await {
            Some(bytes) => read += bytes.unwrap().len(),
            None => break,
        }
    }
    assert_eq!(read, 3);
}

#[tokio::test]
async fn total_ends_waits_and_endless_streams() {
    let address = serve(|_, mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(CHUNKED).await.unwrap();
        while stream.write_all(&chunk(&[b'x'; 4096])).await.is_ok() {}
    })
    .await;
    let mut request = get(&format!("http://{address}/"));
    request.timeouts = Timeouts { total: Some(SHORT * 2), ..limits() };
    let response = soon(client().send(request)).await.unwrap();
    let error = soon(response.into_body().collect(usize::MAX)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout(TimeoutPhase::Total));

    let address = serve(|_, stream| silent(stream)).await;
    let mut request = get(&format!("http://{address}/"));
    request.timeouts = Timeouts { total: Some(SHORT), ..limits() };
    let error = soon(client().send(request)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout(TimeoutPhase::Total));
}

#[tokio::test]
async fn nobody_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = soon(client().send(get(&format!("http://{address}/")))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect);
    assert!(error.retryable());
}
