//! Outgoing proxies with the meaning of `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::uri::Authority;
use http::{HeaderValue, Uri};

use crate::error::{ErrorKind, NetError};

/// One proxy: where it listens, whether it is reached by TLS, and its credential.
#[derive(Clone)]
pub struct Proxy {
    pub(crate) tls: bool,
    pub(crate) authority: Authority,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) authorization: Option<HeaderValue>,
}

impl Proxy {
    /// Reads `http://[user[:password]@]host[:port]`, the same with `https`, or a bare
    /// `host:port`. Userinfo is percent-decoded and sent as basic authentication.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] for any other scheme (SOCKS too) and for unreadable URLs; the
    /// text never repeats the URL.
    pub fn parse(url: &str) -> Result<Self, NetError> {
        let bad = |why| NetError::new(ErrorKind::Invalid, format!("the proxy URL {why}"));
        let url = url.trim();
        let full = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        let uri: Uri = full.parse().map_err(|_| bad("cannot be read"))?;
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(bad("must begin with http:// or https://")),
        };
        let given = uri.authority().ok_or_else(|| bad("has no host"))?;
        let host = bare_host(given.host()).to_owned();
        if host.is_empty() {
            return Err(bad("has no host"));
        }
        let port = given.port_u16().unwrap_or(if tls { 443 } else { 80 });
        let authorization = match given.as_str().rsplit_once('@') {
            Some((userinfo, _)) => Some(basic(userinfo).ok_or_else(|| bad("is not readable"))?),
            None => None,
        };
        let authority =
            format!("{}:{port}", given.host()).parse().map_err(|_| bad("has an unreadable host"))?;
        Ok(Self { tls, authority, host, port, authorization })
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy")
            .field("tls", &self.tls)
            .field("authority", &self.authority.as_str())
            .field("authorization", &self.authorization.is_some())
            .finish_non_exhaustive()
    }
}

fn basic(userinfo: &str) -> Option<HeaderValue> {
    let (user, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
    let mut plain = percent_decode(user);
    plain.push(b':');
    plain.extend(percent_decode(password));
    let mut value = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(plain))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn percent_decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escaped = text
            .get(at + 1..at + 3)
            .filter(|digits| byte == b'%' && digits.bytes().all(|d| d.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(escaped.unwrap_or(byte));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    out
}

/// An IPv6 literal without its brackets, any other host as it is.
pub(crate) fn bare_host(host: &str) -> &str {
    host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host)
}

/// Hosts that are reached directly.
#[derive(Clone, Debug, Default)]
pub struct NoProxy {
    all: bool,
    entries: Vec<(String, Option<u16>)>,
}

impl NoProxy {
    /// Reads a comma-separated list: `*` for every host, a host or domain (with or without
    /// a leading dot; subdomains are included), or an IP address, each with an optional
    /// `:port`. Address ranges (CIDR) match nothing.
    pub fn parse(list: &str) -> Self {
        let mut this = Self::default();
        for entry in list.split(',').map(str::trim).filter(|e| !e.is_empty()) {
            if entry == "*" {
                this.all = true;
                continue;
            }
            let (host, port) = split_port(entry);
            let host = host.trim_start_matches("*.").trim_start_matches('.');
            this.entries.push((host.to_ascii_lowercase(), port));
        }
        this
    }

    /// Whether `host` (no brackets) at `port` is reached directly.
    pub fn matches(&self, host: &str, port: u16) -> bool {
        if self.all {
            return true;
        }
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let literal = host.parse::<std::net::IpAddr>().is_ok();
        self.entries.iter().any(|(entry, only)| {
            only.is_none_or(|only| only == port)
                && (host == *entry
                    || (!literal
                        && host.strip_suffix(entry.as_str()).is_some_and(|front| front.ends_with('.'))))
        })
    }
}

fn split_port(entry: &str) -> (&str, Option<u16>) {
    if entry.parse::<std::net::Ipv6Addr>().is_ok() {
        return (entry, None);
    }
    match entry.rsplit_once(':') {
        Some((host, port)) => match port.parse() {
            Ok(port) => (bare_host(host), Some(port)),
            Err(_) => (bare_host(entry), None),
        },
        None => (bare_host(entry), None),
    }
}

/// The proxies of a client. `Default` is none.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    /// For `http` URLs: the request goes to the proxy in absolute form.
    pub http: Option<Proxy>,
    /// For `https` URLs: the proxy opens a tunnel (`CONNECT`).
    pub https: Option<Proxy>,
    /// Hosts that neither applies to.
    pub no_proxy: NoProxy,
}

impl Proxies {
    /// Reads the three values; empty strings count as absent.
    ///
    /// # Errors
    /// As [`Proxy::parse`].
    pub fn parse(http: Option<&str>, https: Option<&str>, no_proxy: Option<&str>) -> Result<Self, NetError> {
        let read = |url: Option<&str>| url.filter(|url| !url.trim().is_empty()).map(Proxy::parse).transpose();
        Ok(Self {
            http: read(http)?,
            https: read(https)?,
            no_proxy: NoProxy::parse(no_proxy.unwrap_or_default()),
        })
    }

    /// The proxy for a target, if one applies.
    pub(crate) fn select(&self, tls: bool, host: &str, port: u16) -> Option<&Proxy> {
        let proxy = if tls { &self.https } else { &self.http };
        proxy.as_ref().filter(|_| !self.no_proxy.matches(host, port))
    }
}
