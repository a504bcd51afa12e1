//! Fetching what callers name by its address, without becoming their hand into this house's network.
//!
//! A host is resolved first; every address it has must be a public one, and the connection goes to the address that
//! was looked at, so that a name which changes its answer gains nothing. Each redirect is looked at as the first
//! address was. No proxy, no cookie, no credential, nothing of the caller's.

mod address;
mod rules;

#[cfg(test)]
mod tests;

use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use tokio::net::lookup_host;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use trilith_core::{BoxFuture, Error, ErrorKind as Kind, ErrorOrigin, Fetch, Fetched};

use crate::client::{Client, Response};
use crate::config::{ClientConfig, DecodeCaps, PoolLimits, Roots, Timeouts};
use crate::error::{ErrorKind, NetError};
use crate::request::Request;
use address::Reach;
pub use rules::FetchRules;
use rules::Place;

/// How many redirects are followed.
const REDIRECTS: usize = 3;

/// Fetches under [`FetchRules`].
#[derive(Debug)]
pub struct Fetcher {
    rules: FetchRules,
    client: Client,
    room: Semaphore,
}

impl Fetcher {
    /// A fetcher whose servers' certificates come from `roots`.
    ///
    /// # Errors
    /// As [`Client::new`].
    pub fn new(rules: FetchRules, roots: Roots) -> Result<Self, NetError> {
        let client = Client::new(ClientConfig {
            // A connection is for the address that was looked at, so none is kept for another look.
            pool: PoolLimits { max_idle_per_origin: 0, ..PoolLimits::default() },
            roots,
            decode: DecodeCaps { max_bytes: rules.max_bytes as u64, ..DecodeCaps::default() },
            ..ClientConfig::default()
        })?;
        let room = Semaphore::new(rules.at_once);
        Ok(Self { rules, client, room })
    }

    async fn follow(&self, url: &str) -> Result<Fetched, Error> {
        let mut place = self.rules.place(url).map_err(refused)?;
        for _ in 0..=REDIRECTS {
            let answer = self.ask(&place).await?;
            let Some(next) = redirect(&answer) else { return self.take(answer).await };
            let next = next.ok_or_else(|| refused("leads to a redirect without an address"))?;
            let next =
                absolute(&place, &next).ok_or_else(|| refused("leads to an address that is no URL"))?;
            place =
                self.rules.place(&next).map_err(|_| refused("leads to an address that is not asked here"))?;
        }
        Err(refused("leads to more redirects than are followed"))
    }

    async fn ask(&self, place: &Place) -> Result<Response, Error> {
        let address = look_up(place).await?;
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static("*/*"));
        headers.insert(header::USER_AGENT, HeaderValue::from_static("trilith"));
        let mut request = Request::new(Method::GET, place.uri.clone(), headers, Bytes::new());
        request.address = Some(address);
        request.timeouts = Timeouts { total: Some(self.rules.time), ..Timeouts::default() };
        self.client.send(request).await.map_err(failed)
    }

    async fn take(&self, answer: Response) -> Result<Fetched, Error> {
        let status = answer.status();
        if status != StatusCode::OK {
            return Err(refused(format!("was answered with status {} by its server", status.as_u16())));
        }
        let mime = answer.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let mime = mime.map(|kind| kind.split(';').next().unwrap_or_default().trim());
        let mime = mime.filter(|kind| !kind.is_empty()).map(Into::into);
        let bytes = answer.into_body().collect(self.rules.max_bytes).await.map_err(failed)?;
        Ok(Fetched { mime, bytes })
    }

    async fn fetch(&self, url: &str) -> Result<Fetched, Error> {
        let work = async {
            let turn = self.room.acquire().await;
            match turn {
                Ok(_turn) => self.follow(url).await,
                Err(_) => Err(refused("cannot be asked now")),
            }
        };
        timeout(self.rules.time, work).await.unwrap_or_else(|_| Err(refused(SLOW)))
    }
}

impl Fetch for Fetcher {
    fn fetch<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Fetched, Error>> {
        Box::pin(self.fetch(url))
    }
}

const SLOW: &str = "took its server too long";
/// One text for a name without an address and for one that leads into this house: which names exist here is nobody's
/// to learn.
const NOWHERE: &str = "leads to no public address";

/// The address to connect to: the first of those that the host has, all of which must be good ones.
async fn look_up(place: &Place) -> Result<SocketAddr, Error> {
    let found = lookup_host((place.host.as_str(), place.port)).await.map_err(|_| refused(NOWHERE))?;
    let mut first = None;
    for address in found {
        match address::reach(address.ip()) {
            Reach::Public => {}
            Reach::Private if place.private => {}
            Reach::Private | Reach::Never => return Err(refused(NOWHERE)),
        }
        first = first.or(Some(address));
    }
    first.ok_or_else(|| refused(NOWHERE))
}

/// Where an answer sends: `None` if it is no redirect, nothing in it if it names no place.
fn redirect(answer: &Response) -> Option<Option<String>> {
    if !matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = answer.headers().get(header::LOCATION).and_then(|place| place.to_str().ok());
    Some(location.map(str::to_owned))
}

/// A redirect's address, which may be relative to the one that was asked.
fn absolute(from: &Place, next: &str) -> Option<String> {
    let scheme = from.uri.scheme_str()?;
    let authority = from.uri.authority()?;
    if next.split(['/', '?', '#']).next().is_some_and(|start| start.contains(':')) {
        return Some(next.to_owned());
    }
    if next.starts_with("//") {
        return Some(format!("{scheme}:{next}"));
    }
    if next.starts_with('/') {
        return Some(format!("{scheme}://{authority}{next}"));
    }
    let folder = from.uri.path().rsplit_once('/').map_or("", |(folder, _)| folder);
    Some(format!("{scheme}://{authority}{folder}/{next}"))
}

fn failed(error: NetError) -> Error {
    let what = match error.kind() {
        ErrorKind::Timeout(_) => SLOW,
        ErrorKind::TooLarge => "has more bytes behind it than are fetched",
        _ => "could not be fetched from its server",
    };
    refused(what).with_source(error)
}

fn refused(what: impl std::fmt::Display) -> Error {
    let text = format!("the address {what}; send the data itself");
    Error::new(Kind::BadRequest, ErrorOrigin::Caller, text).with_code("unreachable_address")
}
