//! The client: picks a connection, sends, and hands out the response.

use std::sync::Arc;

use http::uri::Authority;
use http::{Method, Uri};
use tokio::time::Instant;

use crate::answer::Answer;
use crate::body::Body;
use crate::clock::now;
use crate::config::{ClientConfig, DecodeCaps, Timeouts};
use crate::connect::{Target, connect};
use crate::decode::Decoder;
use crate::error::{ErrorKind, NetError, TimeoutPhase};
use crate::exchange::{Exchange, Frame, send_head};
use crate::outgoing::Outgoing;
use crate::pool::{Key, Origin, Pool, PoolStats, Scheme};
use crate::proxy::{Proxies, Proxy, bare_host};
use crate::request::Request;
use crate::tls;
use crate::wire::Wire;

/// A response: status, headers and the body, which is decompressed (`content-encoding`
/// and `content-length` are then removed).
pub type Response = http::Response<Body>;

/// The outgoing client; clones share one pool.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    pool: Arc<Pool>,
    tls: Arc<rustls::ClientConfig>,
    proxies: Proxies,
    decode: DecodeCaps,
    max_head: usize,
}

/// Time limits of one exchange as points in time.
#[derive(Clone, Copy)]
struct Deadlines {
    timeouts: Timeouts,
    /// When the request is handed to its connection.
    sending: Instant,
    total: Option<Instant>,
}

impl Client {
    /// Makes a client.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] when a CA file is no PEM certificate, or the system's roots
    /// are asked for and there are none.
    pub fn new(config: ClientConfig) -> Result<Self, NetError> {
        Ok(Self {
            shared: Arc::new(Shared {
                pool: Arc::new(Pool::new(config.pool)),
                tls: tls::client_config(&config.roots)?,
                proxies: config.proxies,
                decode: config.decode,
                max_head: config.max_head_bytes.max(1 << 10),
            }),
        })
    }

    /// Sends a request and waits for the response head. Dropping the future cancels the
    /// request and closes its connection.
    ///
    /// # Errors
    /// Any [`ErrorKind`]; see [`NetError::retryable`]. A status such as 500 is a response,
    /// not an error.
    pub async fn send(&self, request: Request) -> Result<Response, NetError> {
        let shared = &*self.shared;
        let timeouts = request.timeouts;
        let start = now();
        let deadlines =
            Deadlines { timeouts, sending: start, total: timeouts.total.map(|total| start + total) };
        let authority = authority(&request)?;
        let tls = is_tls(&request.uri)?;
        let target = Target { address: request.address, ..target(&authority, tls)? };
        let proxy = match target.address {
            None => shared.proxies.select(tls, target.host, target.port),
            Some(_) => None,
        };
        let origin = shared.pool.origin(Key {
            scheme: match (tls, proxy) {
                (true, _) => Scheme::Https,
                (false, None) => Scheme::Http,
                (false, Some(_)) => Scheme::Forward,
            },
            authority: match proxy {
                Some(proxy) if !tls => proxy.authority.clone(),
                _ => authority.clone(),
            },
        });
        let mut outgoing = Outgoing::new(request, &authority, proxy.filter(|_| !tls))?;

        if let Some(wire) = shared.pool.take(&origin, start) {
            match shared.exchange(wire, &mut outgoing, &origin, deadlines).await {
                Err(error) if error.kind() == ErrorKind::Closed && error.retryable() => {
                    shared.pool.count_resent();
                }
                outcome => return outcome,
            }
        }
        let wire = Box::pin(shared.open(&target, proxy, deadlines)).await?;
        let deadlines = Deadlines { sending: now(), ..deadlines };
        shared.exchange(wire, &mut outgoing, &origin, deadlines).await
    }

    /// Closes the idle connections that are too old or that their server has closed. The
    /// pool does this by itself as it is used; a caller may do it now and then so that a
    /// client without traffic holds no sockets.
    pub fn close_stale(&self) {
        self.shared.pool.sweep(now());
    }

    /// Counts of the connection pool.
    pub fn stats(&self) -> PoolStats {
        self.shared.pool.stats()
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

impl Shared {
    async fn open(
        &self,
        target: &Target<'_>,
        proxy: Option<&Proxy>,
        deadlines: Deadlines,
    ) -> Result<Box<Wire>, NetError> {
        let limit = now() + deadlines.timeouts.connect;
        let (limit, phase) = match deadlines.total {
            Some(total) if total < limit => (total, TimeoutPhase::Total),
            _ => (limit, TimeoutPhase::Connect),
        };
        let stream = tokio::time::timeout_at(limit, connect(target, proxy, &self.tls))
            .await
            .map_err(|_| NetError::timeout(phase, &target.authority()).with_retryable(true))??;
        self.pool.count_opened();
        Ok(Wire::new(stream, self.max_head))
    }

    async fn exchange(
        &self,
        mut wire: Box<Wire>,
        outgoing: &mut Outgoing,
        origin: &Arc<Origin>,
        deadlines: Deadlines,
    ) -> Result<Response, NetError> {
        let Deadlines { timeouts, sending, total } = deadlines;
        let first_byte = sending + timeouts.first_byte;
        outgoing.rewind();
        let answer = send_head(&mut wire, outgoing, first_byte, total, origin.name()).await?;
        let Answer { status, version, mut headers, framing, keep } = answer;
        let frame =
            Frame { pool: Arc::clone(&self.pool), origin: Arc::clone(origin), idle: timeouts.idle, total };
        let exchange = Exchange::new(wire, outgoing.take_rest(), framing, keep, frame);
        let decoder =
            if exchange.is_over() { None } else { Decoder::for_headers(&mut headers, self.decode)? };
        let mut response = Response::new(Body::new(exchange, decoder));
        *response.status_mut() = status;
        *response.version_mut() = version;
        *response.headers_mut() = headers;
        Ok(response)
    }
}

fn is_tls(uri: &Uri) -> Result<bool, NetError> {
    match uri.scheme_str() {
        Some("https") => Ok(true),
        Some("http") => Ok(false),
        _ => Err(NetError::new(ErrorKind::Invalid, "a URL must begin with http:// or https://")),
    }
}

fn authority(request: &Request) -> Result<Authority, NetError> {
    let bad = |why| Err(NetError::new(ErrorKind::Invalid, why));
    if request.method == Method::CONNECT {
        return bad("CONNECT is not a request of this client");
    }
    match request.uri.authority() {
        Some(authority) if authority.as_str().contains('@') => {
            bad("a URL with userinfo is refused; give the credential as a header")
        }
        Some(authority) => Ok(authority.clone()),
        None => bad("a URL needs a host"),
    }
}

/// Host and port of an authority without userinfo.
fn target(authority: &Authority, tls: bool) -> Result<Target<'_>, NetError> {
    let full = authority.host();
    let host = bare_host(full);
    if host.is_empty() {
        return Err(NetError::new(ErrorKind::Invalid, "a URL needs a host"));
    }
    // Each look-up in an authority scans it again; what follows the host is the port.
    let port = authority.as_str().get(full.len()..).and_then(|rest| rest.strip_prefix(':'));
    let port = port.and_then(|digits| digits.parse().ok());
    Ok(Target { host, port: port.unwrap_or(if tls { 443 } else { 80 }), tls, address: None })
}
