//! Names of this machine, and keys in every place that a dialect puts them.

use super::*;

#[test]
fn loopback_is_told_by_its_fixed_names() {
    for host in ["localhost", "LOCALHOST:80", "127.0.0.1", "127.8.9.1:8080", "[::1]", "[::1]:80"] {
        assert!(is_loopback(host), "{host}");
    }
    for host in
        ["", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "[::2]:80", "10.0.0.1"]
    {
        assert!(!is_loopback(host), "{host}");
    }
}

#[test]
fn a_key_is_found_in_every_dialects_header_and_only_one_is_taken() {
    let headers = |pairs: &[(&'static str, &'static str)]| {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect::<HeaderMap>()
    };
    for pair in [
        ("authorization", "Bearer k"),
        ("authorization", "bearer  k "),
        ("x-api-key", "k"),
        ("api-key", "k"),
        ("x-goog-api-key", "k"),
    ] {
        assert_eq!(presented(&headers(&[pair])).unwrap(), Some("k"), "{pair:?}");
    }
    assert_eq!(presented(&headers(&[("authorization", "Bearer k"), ("x-api-key", "k")])).unwrap(), Some("k"));
    assert!(presented(&headers(&[("authorization", "Bearer k"), ("x-api-key", "other")])).is_err());
    assert_eq!(presented(&headers(&[("authorization", "Basic k")])).unwrap(), None);
}

#[test]
fn every_name_of_the_host_must_be_this_machines() {
    for (hosts, uri, allowed) in [
        (&["127.0.0.1"][..], "/v1/models", true),
        (&["localhost:80"], "http://127.0.0.1:80/v1/models", true),
        (&[], "http://[::1]/v1/models", true),
        (&["127.0.0.1"], "http://evil.example/v1/models", false),
        (&["evil.example"], "http://127.0.0.1/v1/models", false),
        (&["127.0.0.1"], "http://127.0.0.1@evil.example/v1/models", false),
        (&["127.0.0.1", "evil.example"], "/v1/models", false),
        (&[], "/v1/models", false),
    ] {
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(header::HOST, host.parse().unwrap());
        }
        assert_eq!(local_only(&headers, &uri.parse().unwrap()).is_ok(), allowed, "{hosts:?} {uri}");
    }
}
