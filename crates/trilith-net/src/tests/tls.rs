//! TLS against a server with a certificate of our own authority, directly and by tunnel.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use tokio_rustls::TlsAcceptor;

use super::*;
use crate::{ErrorKind, Proxies, Roots};

/// The authority's PEM, and an acceptor whose certificate names `localhost` alone.
fn authority() -> (Vec<u8>, TlsAcceptor) {
    let ca_key = KeyPair::generate().unwrap();
    let mut ca = CertificateParams::new(Vec::new()).unwrap();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca_certificate = ca.self_signed(&ca_key).unwrap();
    let issuer = Issuer::new(ca, ca_key);
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec!["localhost".into()]).unwrap().signed_by(&key, &issuer).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], PrivatePkcs8KeyDer::from(key.serialize_der()).into())
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    (ca_certificate.pem().into_bytes(), TlsAcceptor::from(Arc::new(config)))
}

fn trusting(pem: Vec<u8>, proxies: Proxies) -> Client {
    Client::new(ClientConfig {
        roots: Roots { extra_pem: vec![pem], ..Roots::default() },
        proxies,
        ..ClientConfig::default()
    })
    .unwrap()
}

async fn https_server(acceptor: TlsAcceptor) -> SocketAddr {
    serve(move |_, stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                return;
            };
            assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"http/1.1".as_slice()));
            let mut burst = CHUNKED.to_vec();
            for _ in 0..32 {
                burst.extend(chunk(b"data: x\n\n"));
            }
            burst.extend(b"0\r\n\r\n");
            while read_request(&mut stream).await.is_some() {
                stream.write_all(&burst).await.unwrap();
            }
        }
    })
    .await
}

async fn read_twice(client: &Client, url: &str) {
    for _ in 0..2 {
        let mut body = soon(client.send(get(url))).await.unwrap().into_body();
        let (mut pieces, mut bytes) = (0, 0);
        while let Some(piece) = soon(body.chunk()).await {
            bytes += piece.unwrap().len();
            pieces += 1;
        }
        assert_eq!(bytes, 32 * 9);
        assert!(pieces <= 2, "{pieces} pieces");
    }
    assert_eq!(client.stats().opened, 1);
}

#[tokio::test]
async fn an_own_authority_is_trusted_and_only_then() {
    let (pem, acceptor) = authority();
    let address = https_server(acceptor).await;
    let trusting = trusting(pem, Proxies::default());
    let url = format!("https://localhost:{}/", address.port());
    read_twice(&trusting, &url).await;
    let unknown = soon(client().send(get(&url))).await.unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::Tls);
    let misnamed = soon(trusting.send(get(&format!("https://{address}/")))).await;
    assert_eq!(misnamed.unwrap_err().kind(), ErrorKind::Tls);
}

#[tokio::test]
async fn https_goes_through_a_tunnel() {
    let (pem, acceptor) = authority();
    let address = https_server(acceptor).await;
    let proxy = serve(move |_, mut stream| async move {
        let (head, _) = read_request(&mut stream).await.unwrap();
        let wanted = format!("localhost:{}", address.port());
        assert!(head.starts_with(&format!("CONNECT {wanted} HTTP/1.1")), "{head}");
        assert_eq!(header(&head, "proxy-authorization"), Some("Basic YTpi"));
        stream.write_all(b"HTTP/1.1 200 Connection established\r\nx: y\r\n\r\n").await.unwrap();
        let mut upstream = TcpStream::connect(address).await.unwrap();
        tokio::io::copy_bidirectional(&mut stream, &mut upstream).await.ok();
    })
    .await;
    let proxies = Proxies::parse(None, Some(&format!("http://a:b@{proxy}")), None).unwrap();
    let client = trusting(pem, proxies);
    read_twice(&client, &format!("https://localhost:{}/", address.port())).await;
}

#[test]
fn unusable_roots_are_refused() {
    for pem in [
        b"".to_vec(),
        b"not pem".to_vec(),
        b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_vec(),
    ] {
        let error = Client::new(ClientConfig {
            roots: Roots { extra_pem: vec![pem], ..Roots::default() },
            ..ClientConfig::default()
        })
        .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
    }
}
