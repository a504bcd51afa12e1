//! What may be fetched and what may not; the servers are on loopback, which is a private host here.

use std::time::Duration;

use trilith_core::{Error, Fetch, Pattern};

use super::{FetchRules, Fetched, Fetcher, absolute, address::Reach, address::reach};
use crate::Roots;
use crate::tests::{answer_all, serve};

fn rules() -> FetchRules {
    FetchRules {
        hosts: Vec::new(),
        private_hosts: Vec::new(),
        ports: Vec::new(),
        plain: false,
        max_bytes: 1000,
        time: Duration::from_secs(5),
        at_once: 4,
    }
}

#[test]
fn addresses_are_public_private_or_nobodys() {
    let public = "1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 128.0.0.1 169.253.0.1 172.15.0.1 \
                  172.32.0.1 192.0.1.1 192.167.0.1 198.17.0.1 198.20.0.1 223.255.255.255 2606:4700::1 2a00:1450::1 \
                  2001:200::1 2001:db9::1 3fff:1000::1";
    let private = "10.0.0.1 10.255.255.255 100.64.0.1 127.0.0.1 127.255.0.1 172.16.0.1 172.31.255.255 192.168.1.1 \
                   ::1 fc00::1 fdff::1";
    let never = "0.0.0.0 0.1.2.3 169.254.169.254 169.254.170.2 192.0.0.192 192.0.2.1 192.88.99.1 198.18.0.1 \
                 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255 \
                 100.100.100.200 168.63.129.16 :: ::ffff:1.1.1.1 ::ffff:127.0.0.1 ::ffff:169.254.169.254 ::7f00:1 \
                 64:ff9b::a00:1 64:ff9b:1::1 100::1 2001::1 2001:10::1 2001:db8::1 2002:7f00:1::1 3fff::1 4000::1 \
                 fe80::1 fec0::1 ff02::1 fd00:ec2::254";
    for (list, expected) in [(public, Reach::Public), (private, Reach::Private), (never, Reach::Never)] {
        for text in list.split_whitespace() {
            assert_eq!(reach(text.parse().unwrap()), expected, "{text}");
        }
    }
}

#[test]
fn addresses_are_refused_by_their_text_before_anybody_is_asked() {
    let refused = [
        ("", "no URL"),
        ("cat.png", "neither"),
        ("ftp://a/b", "neither"),
        ("file:///etc/passwd", ""),
        ("http://a/b", "not https"),
        ("https://user:pw@a/b", "credential"),
        ("https://a:444/b", "port"),
        ("https://a:99999/b", "port"),
        ("https://a:443x/b", ""),
        ("https://b.other.org/c", "host"),
        ("https://cdn.example.org.evil.net/", "host"),
    ];
    let own = FetchRules { hosts: vec![Pattern::new("*.example.org"), Pattern::new("a")], ..rules() };
    for (url, reason) in refused {
        let said = own.place(url).unwrap_err();
        assert!(said.contains(reason), "{url}: {said}");
    }
    for (url, host, port) in [
        ("https://a/b", "a", 443),
        ("https://CDN.Example.ORG./x", "cdn.example.org", 443),
        ("https://a:443/b?c", "a", 443),
    ] {
        let place = own.place(url).unwrap();
        assert_eq!((place.host.as_str(), place.port, place.private), (host, port, false), "{url}");
    }
    let wide = FetchRules { plain: true, ports: vec![8080], ..rules() };
    assert_eq!(wide.place("http://[2606:4700::1]/x").unwrap().host, "2606:4700::1");
    assert_eq!(wide.place("http://x:8080/").unwrap().port, 8080);
}

#[test]
fn redirects_may_be_relative() {
    let from = rules().place("https://a/b/c?d").unwrap();
    let cases = [
        ("https://x/y", "https://x/y"),
        ("//x/y", "https://x/y"),
        ("/y?z", "https://a/y?z"),
        ("y", "https://a/b/y"),
        ("mailto:a@b", "mailto:a@b"),
    ];
    for (next, expected) in cases {
        assert_eq!(absolute(&from, next).as_deref(), Some(expected), "{next}");
    }
}

/// Names and spellings that lead to this machine or to nobody; none of them is asked.
#[tokio::test]
async fn nothing_in_this_house_is_asked() {
    let listener =
        serve(|_, stream| answer_all(stream, b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx".to_vec()))
            .await;
    let port = listener.port();
    let fetcher =
        Fetcher::new(FetchRules { plain: true, ports: vec![port], ..rules() }, Roots::default()).unwrap();
    for host in [
        "127.0.0.1",
        "localhost",
        "LOCALHOST.",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "[::]",
        "no-such-host.invalid",
    ] {
        let error = fetcher.fetch(&format!("http://{host}:{port}/")).await.unwrap_err();
        assert!(error.public.contains("no public address"), "{host}: {}", error.public);
    }
}

async fn fetched(answer: impl Into<Vec<u8>>) -> Result<Fetched, Error> {
    let answer = answer.into();
    let address = serve(move |_, stream| answer_all(stream, answer.clone())).await;
    let own = FetchRules {
        plain: true,
        private_hosts: vec![Pattern::new("127.0.0.1")],
        ports: vec![address.port()],
        time: Duration::from_millis(800),
        ..rules()
    };
    Fetch::fetch(&Fetcher::new(own, Roots::default()).unwrap(), &format!("http://{address}/cat?x=1")).await
}

#[tokio::test]
async fn an_answer_is_taken_within_its_bounds() {
    let found =
        fetched("HTTP/1.1 200 OK\r\ncontent-type: image/png; a=b\r\ncontent-length: 3\r\n\r\ncat").await;
    let found = found.unwrap();
    assert_eq!((found.mime.as_deref(), &found.bytes[..]), (Some("image/png"), &b"cat"[..]));
    let long = "x".repeat(2000);
    let cases = [
        ("HTTP/1.1 404 Not Found\r\ncontent-length: 6\r\n\r\nsecret".to_owned(), "status 404"),
        ("HTTP/1.1 204 No Content\r\n\r\n".to_owned(), "status 204"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 2000\r\n\r\n".to_owned(), "more bytes"),
        (format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{long}"), ""),
        (
            format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7d0\r\n{long}\r\n0\r\n\r\n"),
            "more bytes",
        ),
        ("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n".to_owned(), "too long"),
        ("SSH-2.0-OpenSSH\r\n\r\n".to_owned(), "could not be fetched"),
        ("HTTP/1.1 302 Found\r\ncontent-length: 0\r\n\r\n".to_owned(), "redirect without"),
        ("HTTP/1.1 302 Found\r\nlocation: /again\r\ncontent-length: 0\r\n\r\n".to_owned(), "more redirects"),
        (
            "HTTP/1.1 302 Found\r\nlocation: http://localhost/\r\ncontent-length: 0\r\n\r\n".to_owned(),
            "no public",
        ),
        (
            "HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n".to_owned(),
            "no public",
        ),
        (
            "HTTP/1.1 302 Found\r\nlocation: file:///etc/passwd\r\ncontent-length: 0\r\n\r\n".to_owned(),
            "not asked here",
        ),
    ];
    for (answer, reason) in cases {
        let error = fetched(answer.clone()).await.unwrap_err();
        assert!(error.public.contains(reason), "{answer:.60}: {}", error.public);
        assert!(!error.public.contains("secret") && !error.public.contains("127.0.0.1"), "{}", error.public);
    }
}
