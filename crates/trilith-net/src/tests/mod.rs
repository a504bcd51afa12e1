//! The client against servers on loopback.

mod codec;
mod coding;
mod early;
mod faults;
mod proxies;
mod reuse;
mod streams;
mod timeouts;
mod tls;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::{Client, ClientConfig, NetError, Request, Response};

/// Runs `handle` for every connection, with the connection's number from 0.
pub(crate) async fn serve<F, Fut>(handle: F) -> SocketAddr
where
    F: Fn(usize, TcpStream) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let handle = Arc::new(handle);
    start(async move {
        let mut number = 0;
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).unwrap();
            start(handle(number, stream));
            number += 1;
        }
    });
    address
}

#[expect(clippy::disallowed_methods, reason = "test servers end with their runtime")]
fn start(task: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(task);
}

/// Reads one request; none when the peer closed first.
async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            let length = header(&head, "content-length").map_or(0, |v| v.parse().unwrap());
            let mut body = bytes[end + 4..].to_vec();
            while body.len() < length {
                if stream.read_buf(&mut body).await.ok()? == 0 {
                    return None;
                }
            }
            return Some((head, body));
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}

/// Answers every request of a connection with the same bytes.
pub(crate) async fn answer_all(mut stream: TcpStream, answer: Vec<u8>) {
    while read_request(&mut stream).await.is_some() {
        if stream.write_all(&answer).await.is_err() {
            return;
        }
    }
}

fn plain(body: &[u8], headers: &str) -> Vec<u8> {
    let mut out = format!("HTTP/1.1 200 OK\r\n{headers}content-length: {}\r\n\r\n", body.len()).into_bytes();
    out.extend_from_slice(body);
    out
}

fn chunk(data: &[u8]) -> Vec<u8> {
    let mut out = format!("{:x}\r\n", data.len()).into_bytes();
    out.extend_from_slice(data);
    out.extend_from_slice(b"\r\n");
    out
}

const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

fn client() -> Client {
    Client::new(ClientConfig::default()).unwrap()
}

fn get(url: &str) -> Request {
    Request::new(Method::GET, url.parse().unwrap(), HeaderMap::new(), Bytes::new())
}

fn post(url: &str, body: &'static [u8]) -> Request {
    Request::new(Method::POST, url.parse().unwrap(), HeaderMap::new(), Bytes::from_static(body))
}

async fn text(response: Result<Response, NetError>) -> String {
    let body = response.unwrap().into_body().collect(1 << 20).await;
    String::from_utf8(body.unwrap().to_vec()).unwrap()
}

/// Fails a test that hangs instead of letting it run.
async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("hangs")
}
