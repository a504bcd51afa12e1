//! Streamed bodies: bursts, cancelling, back-pressure.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

#[tokio::test]
async fn a_burst_is_one_piece_and_returns_its_connection() {
    let address = serve(|_, stream| {
        let mut burst = CHUNKED.to_vec();
        for number in 0..32 {
            burst.extend(chunk(format!("data: {{\"n\":{number}}}\n\n").as_bytes()));
        }
        burst.extend(b"0\r\n\r\n");
        answer_all(stream, burst)
    })
    .await;
    let client = client();
    for _ in 0..4 {
        let mut body = soon(client.send(get(&format!("http://{address}/")))).await.unwrap().into_body();
        let (mut pieces, mut all) = (0, Vec::new());
        while let Some(piece) = soon(body.chunk()).await {
            all.extend_from_slice(&piece.unwrap());
            pieces += 1;
        }
        assert!(pieces <= 2, "{pieces} pieces");
        assert_eq!(all.iter().filter(|b| **b == b'\n').count(), 64);
    }
    assert_eq!(client.stats().opened, 1);
}

#[tokio::test]
async fn the_connection_is_free_with_the_last_bytes() {
    let address = serve(|_, stream| {
        let mut whole = CHUNKED.to_vec();
        whole.extend(chunk(b"[DONE]"));
        whole.extend(b"0\r\n\r\n");
        answer_all(stream, whole)
    })
    .await;
    let client = client();
    let mut body = soon(client.send(get(&format!("http://{address}/")))).await.unwrap().into_body();
    assert_eq!(soon(body.chunk()).await.unwrap().unwrap(), "[DONE]");
    drop(body);
    assert_eq!(client.stats().idle, 1);
}

#[tokio::test]
async fn paced_chunks_come_one_by_one() {
    let address = serve(|_, mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(CHUNKED).await.unwrap();
        for number in 0..5 {
            stream.write_all(&chunk(format!("{number}").as_bytes())).await.unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        stream.write_all(b"0\r\n\r\n").await.unwrap();
    })
    .await;
    let mut body = soon(client().send(get(&format!("http://{address}/")))).await.unwrap().into_body();
    let mut pieces = Vec::new();
    while let Some(piece) = soon(body.chunk()).await {
        pieces.push(piece.unwrap());
    }
    assert_eq!(pieces, ["0", "1", "2", "3", "4"]);
}

/// A task may move to another thread, and a body to another task, between two polls.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_can_change_tasks() {
    let address = serve(|_, mut stream| async move {
        while read_request(&mut stream).await.is_some() {
            stream.write_all(CHUNKED).await.unwrap();
            for _ in 0..50 {
                stream.write_all(&chunk(b"12345678")).await.unwrap();
                tokio::task::yield_now().await;
            }
            stream.write_all(b"0\r\n\r\n").await.unwrap();
        }
    })
    .await;
    let client = client();
    for _ in 0..20 {
        let mut body = soon(client.send(get(&format!("http://{address}/")))).await.unwrap().into_body();
        let first = soon(body.chunk()).await.unwrap().unwrap().len();
        let (done, result) = std::sync::mpsc::channel();
        start(async move { done.send(body.collect(1 << 20).await).unwrap() });
        let rest = tokio::task::spawn_blocking(move || result.recv_timeout(Duration::from_secs(20)).unwrap());
        assert_eq!(first + rest.await.unwrap().unwrap().len(), 400);
    }
}

#[tokio::test]
async fn dropping_the_body_closes_the_connection() {
    let (gone, mut noticed) = tokio::sync::mpsc::unbounded_channel();
    let address = serve(move |_, mut stream| {
        let gone = gone.clone();
        async move {
            read_request(&mut stream).await;
            stream.write_all(CHUNKED).await.unwrap();
            stream.write_all(&chunk(b"first")).await.unwrap();
            let end = stream.read(&mut [0; 1]).await;
            gone.send(matches!(end, Ok(0) | Err(_))).unwrap();
        }
    })
    .await;
    let client = client();
    let mut body = soon(client.send(get(&format!("http://{address}/")))).await.unwrap().into_body();
    assert_eq!(soon(body.chunk()).await.unwrap().unwrap(), "first");
    drop(body);
    let closed = tokio::time::timeout(Duration::from_secs(1), noticed.recv()).await;
    assert_eq!(closed, Ok(Some(true)));
    assert_eq!(client.stats().idle, 0);
}

#[tokio::test]
async fn dropping_the_request_closes_the_connection() {
    let (gone, mut noticed) = tokio::sync::mpsc::unbounded_channel();
    let address = serve(move |_, mut stream| {
        let gone = gone.clone();
        async move {
            read_request(&mut stream).await;
            gone.send(false).unwrap();
            let end = stream.read(&mut [0; 1]).await;
            gone.send(matches!(end, Ok(0) | Err(_))).unwrap();
        }
    })
    .await;
    let client = client();
    tokio::select! {
        _ = client.send(get(&format!("http://{address}/"))) => panic!("answered"),
        reached = noticed.recv() => assert_eq!(reached, Some(false)),
    }
    let closed = tokio::time::timeout(Duration::from_secs(1), noticed.recv()).await;
    assert_eq!(closed, Ok(Some(true)));
}

#[tokio::test]
async fn a_reader_that_stops_holds_the_server_back() {
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    let address = serve(move |_, mut stream| {
        let count = Arc::clone(&count);
        async move {
            read_request(&mut stream).await;
            stream.write_all(CHUNKED).await.unwrap();
            let piece = chunk(&[b'x'; 16 << 10]);
            while stream.write_all(&piece).await.is_ok() {
                count.fetch_add(piece.len(), Ordering::SeqCst);
            }
        }
    })
    .await;
    let mut body = soon(client().send(get(&format!("http://{address}/")))).await.unwrap().into_body();
    let first = soon(body.chunk()).await.unwrap().unwrap();
    assert!(first.len() <= 128 << 10, "{}", first.len());
    let mut before = usize::MAX;
    while before != sent.load(Ordering::SeqCst) {
        before = sent.load(Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // What is left is what the two sockets hold; an unread stream is bounded by them.
    assert!(before < 32 << 20, "{before} bytes were taken unread");
    let mut read = 0;
    while read < before {
        read += soon(body.chunk()).await.unwrap().unwrap().len();
    }
}

#[tokio::test]
async fn large_bodies_arrive_whole() {
    let big: Vec<u8> = (0..3_000_000_u32).map(|n| (n * 7 % 251) as u8).collect();
    let expected = big.clone();
    let address = serve(move |_, stream| answer_all(stream, plain(&big, ""))).await;
    let response = soon(client().send(get(&format!("http://{address}/")))).await.unwrap();
    let body = soon(response.into_body().collect(3_000_000)).await.unwrap();
    assert!(body == expected);
}
