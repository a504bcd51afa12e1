//! From a target to a connected stream: addresses, TCP, proxy tunnel, TLS.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use http::HeaderValue;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, lookup_host};
use tokio_rustls::TlsConnector;

use crate::error::{ErrorKind, NetError};
use crate::proxy::Proxy;
use crate::stream::Stream;

/// Head start of one address over the next (RFC 8305 §8 recommends 250 ms).
const STAGGER: Duration = Duration::from_millis(250);

/// Bytes of a proxy's answer to `CONNECT`.
const MAX_TUNNEL_HEAD: usize = 16 << 10;

/// Where a connection leads.
pub(crate) struct Target<'a> {
    /// Host without brackets.
    pub(crate) host: &'a str,
    pub(crate) port: u16,
    pub(crate) tls: bool,
    /// The one address to connect to, where somebody chose it.
    pub(crate) address: Option<SocketAddr>,
}

impl Target<'_> {
    /// `host:port`, with brackets around an IPv6 literal.
    pub(crate) fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

/// Connects straight to `target`, or by way of `proxy`. With a proxy, a TLS target gets a
/// tunnel and a plain one the proxy's own connection.
pub(crate) async fn connect(
    target: &Target<'_>,
    proxy: Option<&Proxy>,
    tls: &Arc<rustls::ClientConfig>,
) -> Result<Stream, NetError> {
    let stream = match proxy {
        None => dial(target.host, target.port, target.address).await?,
        Some(proxy) => {
            let mut stream = dial(&proxy.host, proxy.port, None).await?;
            if proxy.tls {
                stream = handshake(stream, &proxy.host, tls).await?;
            }
            if target.tls {
                open_tunnel(&mut stream, target, proxy.authorization.as_ref()).await?;
            }
            stream
        }
    };
    if target.tls { handshake(stream, target.host, tls).await } else { Ok(stream) }
}

async fn dial(host: &str, port: u16, chosen: Option<SocketAddr>) -> Result<Stream, NetError> {
    let addresses = match chosen {
        Some(address) => vec![address],
        None => resolve(host, port).await?,
    };
    let stream = race(addresses).await.map_err(|error| {
        NetError::new(ErrorKind::Connect, format!("cannot connect to {host}:{port}"))
            .caused_by(error)
            .with_retryable(true)
    })?;
    // A request is written whole; waiting to merge it with a next one only adds delay. A
    // socket that cannot take the option is about to report its own error.
    stream.set_nodelay(true).ok();
    Ok(Stream::Plain(stream))
}

async fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, NetError> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let unknown =
        || NetError::new(ErrorKind::Resolve, format!("no address found for {host}")).with_retryable(true);
    let found = lookup_host((host, port)).await.map_err(|error| unknown().caused_by(error))?;
    let addresses = alternate(found.collect());
    if addresses.is_empty() {
        return Err(unknown());
    }
    Ok(addresses)
}

/// Keeps the resolver's order within a family and alternates the families, so that one
/// broken family costs one head start only.
fn alternate(found: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let first_is_v6 = found.first().is_some_and(SocketAddr::is_ipv6);
    let (same, other): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|address| address.is_ipv6() == first_is_v6);
    let mut other = other.into_iter();
    let mut out = Vec::new();
    for address in same {
        out.push(address);
        out.extend(other.next());
    }
    out.extend(other);
    out
}

/// Tries the addresses in order, each with a head start over the next; the first
/// connection wins.
async fn race(addresses: Vec<SocketAddr>) -> io::Result<TcpStream> {
    let mut waiting = addresses.into_iter();
    let mut attempts = FuturesUnordered::new();
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        if attempts.is_empty() {
            match waiting.next() {
                Some(address) => attempts.push(TcpStream::connect(address)),
                None => return Err(last),
            }
        }
        let step = if waiting.len() == 0 {
            Ok(attempts.next().await)
        } else {
            tokio::time::timeout(STAGGER, attempts.next()).await
        };
        match step {
            Ok(Some(Ok(stream))) => return Ok(stream),
            Ok(Some(Err(error))) => last = error,
            Ok(None) => continue,
            Err(_) => {}
        }
        if let Some(address) = waiting.next() {
            attempts.push(TcpStream::connect(address));
        }
    }
}

async fn handshake(stream: Stream, host: &str, tls: &Arc<rustls::ClientConfig>) -> Result<Stream, NetError> {
    let failed = |error: Box<dyn std::error::Error + Send + Sync>| {
        NetError::new(ErrorKind::Tls, format!("no TLS connection to {host}"))
            .caused_by(error)
            .with_retryable(true)
    };
    let name = ServerName::try_from(host.to_owned()).map_err(|error| failed(error.into()))?;
    TlsConnector::from(Arc::clone(tls))
        .connect(name, stream)
        .await
        .map(|stream| Stream::Tls(Box::new(stream)))
        .map_err(|error| failed(error.into()))
}

async fn open_tunnel(
    stream: &mut Stream,
    target: &Target<'_>,
    authorization: Option<&HeaderValue>,
) -> Result<(), NetError> {
    let failed = |why: &str| NetError::new(ErrorKind::Proxy, format!("the proxy {why}")).with_retryable(true);
    let authority = target.authority();
    let mut head = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n").into_bytes();
    if let Some(value) = authorization {
        head.extend_from_slice(b"Proxy-Authorization: ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    let lost = |error: io::Error| failed("closed the connection").caused_by(error);
    stream.write_all(&head).await.map_err(lost)?;
    stream.flush().await.map_err(lost)?;

    let mut answer = Vec::with_capacity(512);
    loop {
        if answer.len() >= MAX_TUNNEL_HEAD {
            return Err(failed("sent an endless answer"));
        }
        let read = stream.read_buf(&mut answer).await.map_err(lost)?;
        if read == 0 {
            return Err(failed("closed the connection"));
        }
        if let Some(end) = head_end(&answer) {
            // The server speaks second in TLS: nothing may follow yet.
            if end != answer.len() {
                return Err(failed("sent bytes ahead of the tunnel"));
            }
            break;
        }
    }
    match status(&answer) {
        Some(200..=299) => Ok(()),
        Some(407) => Err(failed("asks for authentication (status 407)")),
        Some(status) => Err(failed(&format!("refused the tunnel (status {status})"))),
        None => Err(failed("did not answer with HTTP")),
    }
}

fn head_end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
}

fn status(head: &[u8]) -> Option<u16> {
    let rest = head.strip_prefix(b"HTTP/1.")?;
    let digits = rest.get(2..5)?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}
