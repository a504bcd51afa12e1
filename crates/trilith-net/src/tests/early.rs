//! Answers out of step with their requests: before the request is sent, after an interim
//! answer, with bytes behind the end, without a body.

use super::*;
use crate::ErrorKind;

const LARGE: &[u8] = &[b'p'; 8 << 20];

async fn read_head(stream: &mut TcpStream) {
    let mut last = [0; 4];
    while last != *b"\r\n\r\n" {
        let byte = stream.read_u8().await.unwrap();
        last = [last[1], last[2], last[3], byte];
    }
}

#[tokio::test]
async fn an_answer_before_the_body_was_taken_is_read() {
    let address = serve(|_, mut stream| async move {
        read_head(&mut stream).await;
        let refusal = b"HTTP/1.1 413 Too Large\r\ncontent-length: 5\r\n\r\nlarge";
        stream.write_all(refusal).await.unwrap();
        // The request stays unread while the client reads its answer.
        tokio::time::sleep(Duration::from_secs(5)).await;
    })
    .await;
    let client = client();
    let response = soon(client.send(post(&format!("http://{address}/"), LARGE))).await.unwrap();
    assert_eq!(response.status(), 413);
    assert_eq!(soon(text(Ok(response))).await, "large");
    // Part of the request was not sent, so nothing else can be.
    assert_eq!(client.stats().idle, 0);
}

#[tokio::test]
async fn the_body_is_sent_on_while_the_answer_is_read() {
    let address = serve(|_, mut stream| async move {
        loop {
            read_head(&mut stream).await;
            stream.write_all(CHUNKED).await.unwrap();
            let mut body = vec![0; LARGE.len()];
            stream.read_exact(&mut body).await.unwrap();
            assert!(body == LARGE);
            stream.write_all(&[&chunk(b"taken"), b"0\r\n\r\n".as_slice()].concat()).await.unwrap();
        }
    })
    .await;
    let client = client();
    for _ in 0..2 {
        let answer = client.send(post(&format!("http://{address}/"), LARGE)).await;
        assert_eq!(soon(text(answer)).await, "taken");
    }
    assert_eq!((client.stats().opened, client.stats().idle), (1, 1));
}

#[tokio::test]
async fn an_answer_before_the_connection_breaks_is_read() {
    let address = serve(|_, mut stream| async move {
        read_head(&mut stream).await;
        stream.write_all(b"HTTP/1.1 401 No\r\ncontent-length: 2\r\n\r\nno").await.unwrap();
        stream.shutdown().await.unwrap();
        let mut sink = vec![0; 64 << 10];
        while stream.read(&mut sink).await.is_ok_and(|read| read > 0) {}
    })
    .await;
    let client = client();
    let response = soon(client.send(post(&format!("http://{address}/"), LARGE))).await.unwrap();
    assert_eq!(response.status(), 401);
    assert_eq!(soon(text(Ok(response))).await, "no");
    assert_eq!(client.stats().idle, 0);
}

#[tokio::test]
async fn a_continue_is_passed_over() {
    let address = serve(|_, mut stream| async move {
        for _ in 0..2 {
            read_head(&mut stream).await;
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.unwrap();
            let mut body = [0; 7];
            stream.read_exact(&mut body).await.unwrap();
            stream.write_all(&plain(&body, "")).await.unwrap();
        }
    })
    .await;
    let client = client();
    for _ in 0..2 {
        let mut request = post(&format!("http://{address}/"), b"payload");
        request.headers.insert("expect", "100-continue".parse().unwrap());
        assert_eq!(soon(text(client.send(request).await)).await, "payload");
    }
    assert_eq!(client.stats().opened, 1);
}

#[tokio::test]
async fn bytes_behind_the_end_cost_the_connection() {
    let chunked = [CHUNKED, &chunk(b"ok"), b"0\r\n\r\n"].concat();
    let bare = b"HTTP/1.1 204 No Content\r\n\r\n".to_vec();
    for answer in [plain(b"ok", ""), chunked, bare] {
        let forged = [&answer, plain(b"forged", "").as_slice()].concat();
        let address = serve(move |_, stream| answer_all(stream, forged.clone())).await;
        let client = client();
        for _ in 0..3 {
            let got = soon(text(client.send(get(&format!("http://{address}/"))).await)).await;
            assert!(got == "ok" || got.is_empty(), "{got}");
            assert_eq!(client.stats().idle, 0);
        }
        assert_eq!(client.stats().opened, 3);
    }
}

#[tokio::test]
async fn bytes_that_come_while_idle_cost_the_connection() {
    let address = serve(|_, mut stream| async move {
        while read_request(&mut stream).await.is_some() {
            stream.write_all(&plain(b"ok", "")).await.unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
            stream.write_all(&plain(b"forged", "")).await.unwrap();
        }
    })
    .await;
    let client = client();
    for _ in 0..3 {
        assert_eq!(soon(text(client.send(get(&format!("http://{address}/"))).await)).await, "ok");
        tokio::time::sleep(Duration::from_millis(60)).await;
    }
    assert_eq!((client.stats().opened, client.stats().reused), (3, 0));
}

#[tokio::test]
async fn an_answer_to_head_has_no_body() {
    let address =
        serve(|_, stream| answer_all(stream, b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n".to_vec()))
            .await;
    let client = client();
    for _ in 0..2 {
        let mut request = get(&format!("http://{address}/"));
        request.method = Method::HEAD;
        let response = soon(client.send(request)).await.unwrap();
        assert_eq!(response.headers()["content-length"], "1000");
        assert_eq!(soon(text(Ok(response))).await, "");
    }
    assert_eq!(client.stats().opened, 1);
}

#[tokio::test]
async fn a_body_without_a_length_ends_with_its_connection() {
    let address = serve(|_, mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\none ").await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        stream.write_all(b"two").await.unwrap();
    })
    .await;
    let client = client();
    assert_eq!(soon(text(client.send(get(&format!("http://{address}/"))).await)).await, "one two");
    assert_eq!(client.stats().idle, 0);
}

#[tokio::test]
async fn heads_and_sizes_cut_anywhere_are_read() {
    let address = serve(|_, mut stream| async move {
        read_request(&mut stream).await;
        let answer = [CHUNKED, &chunk(b"slow"), b"0\r\nx: y\r\n\r\n"].concat();
        for byte in answer {
            stream.write_all(&[byte]).await.unwrap();
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        read_request(&mut stream).await;
    })
    .await;
    let client = client();
    assert_eq!(soon(text(client.send(get(&format!("http://{address}/"))).await)).await, "slow");
    assert_eq!(client.stats().idle, 1);
}

#[tokio::test]
async fn large_requests_arrive_whole_and_are_sent_again() {
    let address = serve(|number, mut stream| async move {
        while let Some((_, body)) = read_request(&mut stream).await {
            assert!(body.len() == 2 || body == LARGE);
            if number == 0 && body.len() > 2 {
                return;
            }
            stream.write_all(&plain(body.len().to_string().as_bytes(), "")).await.unwrap();
        }
    })
    .await;
    let client = client();
    assert_eq!(soon(text(client.send(post(&format!("http://{address}/"), b"{}")).await)).await, "2");
    let large = soon(text(client.send(post(&format!("http://{address}/"), LARGE)).await)).await;
    assert_eq!(large, LARGE.len().to_string());
    assert_eq!(client.stats().resent, 1);
}

#[tokio::test]
async fn two_hosts_are_refused() {
    let mut request = get("http://127.0.0.1:9/");
    request.headers.append("host", "one.example".parse().unwrap());
    request.headers.append("host", "two.example".parse().unwrap());
    let error = client().send(request).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}
