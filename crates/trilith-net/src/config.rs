//! What a client is told once, when it is made, and the time limits of one request.

use std::time::Duration;

use crate::proxy::Proxies;

/// Time limits of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Resolving, connecting, the proxy's answer and TLS together. Default 10 s.
    pub connect: Duration,
    /// From sending the request to the end of the response head. Default 600 s: a model
    /// may think for minutes before a response that is not streamed begins.
    pub first_byte: Duration,
    /// The wait for the next bytes of a body, counted only while somebody waits for them,
    /// so a slow reader is not mistaken for a silent server. Default 300 s.
    pub idle: Duration,
    /// The whole exchange up to the last byte of the body. Default none.
    pub total: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(600),
            idle: Duration::from_secs(300),
            total: None,
        }
    }
}

/// Limits of the pool of idle connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolLimits {
    /// Idle connections kept per origin (scheme, host, port); 0 keeps none. Default 256.
    pub max_idle_per_origin: usize,
    /// Idle connections kept altogether. Default 2048.
    pub max_idle: usize,
    /// Age at which an idle connection is no longer used. Default 45 s, below the 60 s
    /// after which common load balancers close.
    pub max_idle_age: Duration,
}

impl Default for PoolLimits {
    fn default() -> Self {
        Self { max_idle_per_origin: 256, max_idle: 2048, max_idle_age: Duration::from_secs(45) }
    }
}

/// Which certificate authorities a server's certificate may come from.
#[derive(Clone, Debug)]
pub struct Roots {
    /// Mozilla's set, compiled in. Default true.
    pub webpki: bool,
    /// The operating system's set. Default false.
    pub system: bool,
    /// Further authorities as the contents of PEM files. Default none.
    pub extra_pem: Vec<Vec<u8>>,
}

impl Default for Roots {
    fn default() -> Self {
        Self { webpki: true, system: false, extra_pem: Vec::new() }
    }
}

/// Caps on what a compressed body may grow to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeCaps {
    /// Decompressed bytes of one body. Default 256 MiB.
    pub max_bytes: u64,
    /// Decompressed bytes per compressed byte. Default 500.
    pub max_ratio: u64,
    /// Decompressed bytes below which the ratio is not looked at, as short repetitive
    /// bodies shrink a lot. Default 1 MiB.
    pub ratio_from: u64,
}

impl Default for DecodeCaps {
    fn default() -> Self {
        Self { max_bytes: 256 << 20, max_ratio: 500, ratio_from: 1 << 20 }
    }
}

/// Everything a [`Client`](crate::Client) is made of. `Default` is direct connections and
/// Mozilla's roots.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// Limits of the idle pool.
    pub pool: PoolLimits,
    /// Trusted certificate authorities.
    pub roots: Roots,
    /// Proxies; the environment is read by the configuration, not here.
    pub proxies: Proxies,
    /// Caps on decompressed bodies.
    pub decode: DecodeCaps,
    /// Bytes of a response head (status line and headers), also of trailers. Default 64 KiB.
    /// The number of header lines is at most 100.
    pub max_head_bytes: usize,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            pool: PoolLimits::default(),
            roots: Roots::default(),
            proxies: Proxies::default(),
            decode: DecodeCaps::default(),
            max_head_bytes: 64 << 10,
        }
    }
}
