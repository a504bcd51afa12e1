//! What may be fetched, as the operator says.

use std::time::Duration;

use http::Uri;
use trilith_core::Pattern;

use crate::proxy::bare_host;

/// What may be fetched for callers.
#[derive(Clone, Debug)]
pub struct FetchRules {
    /// Hosts that may be asked, by names and patterns; every public one where there is none.
    pub hosts: Vec<Pattern>,
    /// Hosts that may be asked though their address is private or this machine's own.
    pub private_hosts: Vec<Pattern>,
    /// Ports that may be asked besides the scheme's own.
    pub ports: Vec<u16>,
    /// Whether `http` is taken too, and not `https` alone.
    pub plain: bool,
    /// Bytes of one answer, also after decompression.
    pub max_bytes: usize,
    /// Time for one address, redirects included.
    pub time: Duration,
    /// How many may be fetched at a time.
    pub at_once: usize,
}

/// An address that may be asked, as far as its text tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) uri: Uri,
    /// Lower case, without brackets and without a dot at its end.
    pub(super) host: String,
    pub(super) port: u16,
    /// Whether it may be in this house.
    pub(super) private: bool,
}

impl FetchRules {
    /// Reads an address; the refusal says which rule is broken.
    pub(super) fn place(&self, url: &str) -> Result<Place, &'static str> {
        let uri: Uri = url.parse().map_err(|_| "is no URL")?;
        let own_port = match uri.scheme_str() {
            Some("https") => 443,
            Some("http") if self.plain => 80,
            Some("http") => return Err("is not https"),
            _ => return Err("is neither https nor http"),
        };
        let authority = uri.authority().ok_or("has no host")?;
        if authority.as_str().contains('@') {
            return Err("holds a credential");
        }
        let host = bare_host(authority.host()).trim_end_matches('.').to_ascii_lowercase();
        if host.is_empty() {
            return Err("has no host");
        }
        let rest = authority.as_str().get(authority.host().len()..).unwrap_or_default();
        let port = match rest.strip_prefix(':') {
            None | Some("") => own_port,
            Some(digits) => digits.parse().map_err(|_| "has a bad port")?,
        };
        if port != own_port && !self.ports.contains(&port) {
            return Err("names a port that is not asked here");
        }
        let named = |list: &[Pattern]| list.iter().any(|pattern| pattern.matches(&host));
        let private = named(&self.private_hosts);
        if !private && !self.hosts.is_empty() && !named(&self.hosts) {
            return Err("names a host that is not asked here");
        }
        Ok(Place { uri, host, port, private })
    }
}
