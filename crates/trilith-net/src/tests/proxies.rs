//! Plain and tunnelling proxies, and which hosts avoid them.

use super::*;
use crate::{ErrorKind, NoProxy, Proxies, Proxy};

fn through(http: Option<&str>, https: Option<&str>, no_proxy: Option<&str>) -> Client {
    Client::new(ClientConfig {
        proxies: Proxies::parse(http, https, no_proxy).unwrap(),
        ..ClientConfig::default()
    })
    .unwrap()
}

#[tokio::test]
async fn plain_requests_go_in_absolute_form() {
    let proxy = serve(|_, mut stream| async move {
        while let Some((head, _)) = read_request(&mut stream).await {
            stream.write_all(&plain(head.as_bytes(), "")).await.unwrap();
        }
    })
    .await;
    let client = through(Some(&format!("http://me:p%40ss@{proxy}")), None, None);
    for host in ["one.example", "two.example:81"] {
        let echo = soon(text(client.send(get(&format!("http://{host}/a?b"))).await)).await;
        assert!(echo.starts_with(&format!("GET http://{host}/a?b HTTP/1.1")), "{echo}");
        assert_eq!(header(&echo, "host"), Some(host));
        assert_eq!(header(&echo, "proxy-authorization"), Some("Basic bWU6cEBzcw=="));
    }
    // Both origins share the connection to the proxy.
    assert_eq!(client.stats().opened, 1);
}

#[tokio::test]
async fn hosts_in_no_proxy_are_reached_directly() {
    let address = serve(|_, mut stream| async move {
        let (head, _) = read_request(&mut stream).await.unwrap();
        stream.write_all(&plain(head.as_bytes(), "")).await.unwrap();
    })
    .await;
    let client = through(Some("http://127.0.0.1:9"), None, Some("10.0.0.1, 127.0.0.1"));
    let echo = soon(text(client.send(get(&format!("http://{address}/x"))).await)).await;
    assert!(echo.starts_with("GET /x HTTP/1.1"), "{echo}");
}

#[tokio::test]
async fn a_refused_tunnel_is_a_proxy_error_without_secrets() {
    for (answer, text) in [
        ("HTTP/1.1 403 Forbidden\r\n\r\n", "status 403"),
        ("HTTP/1.1 407 Auth\r\ncontent-length: 0\r\n\r\n", "407"),
        ("SSH-2.0-x\r\n\r\n", "did not answer with HTTP"),
        ("HTTP/1.1 200 OK\r\n\r\nearly", "ahead of the tunnel"),
        ("", "closed"),
    ] {
        let proxy = serve(move |_, mut stream| async move {
            read_request(&mut stream).await;
            stream.write_all(answer.as_bytes()).await.unwrap();
        })
        .await;
        let client = through(None, Some(&format!("http://user:hunter2@{proxy}")), None);
        let error = soon(client.send(get("https://api.example/v1?key=s3cret"))).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Proxy, "{answer}");
        assert!(error.retryable());
        let shown = format!("{error} {error:?} {client:?}");
        assert!(shown.contains(text), "{shown}");
        assert!(!shown.contains("hunter2") && !shown.contains("s3cret"), "{shown}");
    }
}

#[tokio::test]
async fn an_endless_tunnel_answer_is_cut() {
    let proxy = serve(|_, mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\n").await.unwrap();
        while stream.write_all(b"x-filler: 0123456789abcdef\r\n").await.is_ok() {}
    })
    .await;
    let client = through(None, Some(&format!("http://{proxy}")), None);
    let error = soon(client.send(get("https://api.example/"))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Proxy);
}

#[test]
fn no_proxy_matching() {
    let list = NoProxy::parse(
        "localhost, .corp.example,plain.example:8080, *.star.example,[::1],10.1.2.3,192.168.0.0/16",
    );
    for (host, port, expected) in [
        ("localhost", 80, true),
        ("LOCALHOST", 80, true),
        ("notlocalhost", 80, false),
        ("corp.example", 443, true),
        ("a.b.corp.example", 443, true),
        ("acorp.example", 443, false),
        ("plain.example", 8080, true),
        ("x.plain.example.", 8080, true),
        ("plain.example", 80, false),
        ("s.star.example", 80, true),
        ("::1", 80, true),
        ("10.1.2.3", 80, true),
        ("110.1.2.3", 80, false),
        ("192.168.0.1", 80, false),
    ] {
        assert_eq!(list.matches(host, port), expected, "{host}:{port}");
    }
    assert!(NoProxy::parse("*").matches("any.example", 1));
    assert!(!NoProxy::parse("").matches("any.example", 1));
}

#[test]
fn proxy_urls() {
    let proxy = Proxy::parse("https://user:hunter2@proxy.example").unwrap();
    assert!(proxy.tls);
    assert_eq!((proxy.host.as_str(), proxy.port), ("proxy.example", 443));
    assert!(!format!("{proxy:?}").contains("hunter2"));
    let bare = Proxy::parse("[::1]:3128").unwrap();
    assert_eq!((bare.host.as_str(), bare.port), ("::1", 3128));
    for bad in ["socks5://p:1080", "http://", "http://user:hunter2@", "::", ""] {
        let error = Proxy::parse(bad).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{bad}");
        assert!(!error.to_string().contains("hunter2"));
    }
}
