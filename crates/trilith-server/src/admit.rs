//! Who calls, and whether they may.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, Method, Uri, header};
use trilith_core::{Error, ErrorKind, ErrorOrigin};
use trilith_ops::{Admission, Principal, Refusal, admit};

use crate::app::App;

/// The headers that carry a key, in any dialect.
static KEY_HEADERS: [HeaderName; 3] = [
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("api-key"),
    HeaderName::from_static("x-goog-api-key"),
];

/// A caller that may go on, and the room that its request takes.
pub(crate) struct Caller {
    pub(crate) principal: Arc<Principal>,
    /// Given back when the request ends.
    pub(crate) admission: Admission,
}

/// Finds out who calls and whether there is room.
///
/// # Errors
/// No key, a wrong one or two different ones; a web page that may not call; no room.
pub(crate) fn caller(app: &App, headers: &HeaderMap, uri: &Uri) -> Result<Caller, Error> {
    if app.open {
        local_only(headers, uri)?;
    }
    let principal = match presented(headers)? {
        Some(key) if !app.open => app.keys.authenticate(key),
        None if !app.open => {
            return Err(unauthorized("no API key; send it as 'Authorization: Bearer KEY'"));
        }
        // Without any key configured, SDKs still send whatever they were given.
        _ => app.keys.anonymous(),
    };
    let principal = principal.ok_or_else(|| unauthorized("this API key is not known here"))?;
    let admission = admit(&app.slots, &principal).map_err(|refusal| match refusal {
        Refusal::Process => Error::new(
            ErrorKind::Overloaded,
            ErrorOrigin::Trilith,
            "too many requests are running; try again in a moment",
        ),
        Refusal::Key => Error::new(
            ErrorKind::RateLimited,
            ErrorOrigin::Caller,
            "too many requests of this key are running; wait for one to end",
        )
        .with_code("rate_limit_exceeded"),
    })?;
    Ok(Caller { principal, admission })
}

/// The key that a request presents.
fn presented(headers: &HeaderMap) -> Result<Option<&str>, Error> {
    let text = |value: &header::HeaderValue| value.to_str().ok().map(str::trim).map(str::len).is_some();
    let mut found: Option<&str> = None;
    let bearer =
        headers.get_all(header::AUTHORIZATION).iter().filter(|value| text(value)).filter_map(|value| {
            let value = value.to_str().ok()?.trim();
            let (scheme, key) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
        });
    let named = KEY_HEADERS
        .iter()
        .flat_map(|name| headers.get_all(name))
        .filter_map(|value| value.to_str().ok().map(str::trim));
    for key in bearer.chain(named).filter(|key| !key.is_empty()) {
        match found {
            Some(other) if other != key => {
                return Err(Error::new(
                    ErrorKind::BadRequest,
                    ErrorOrigin::Caller,
                    "the request carries two different API keys; send one",
                ));
            }
            _ => found = Some(key),
        }
    }
    Ok(found)
}

/// Without keys, only programs on this machine may call: a page in a browser reaches loopback too, by its own
/// name or by one that was pointed here.
fn local_only(headers: &HeaderMap, uri: &Uri) -> Result<(), Error> {
    let forbidden = |text: &'static str| Err(Error::new(ErrorKind::Forbidden, ErrorOrigin::Caller, text));
    // Whichever of the two a program between reads, it must not be another machine's name.
    let host = headers.get_all(header::HOST).iter().map(|host| host.to_str().ok());
    let mut named = host.chain(uri.authority().map(|authority| Some(authority.as_str()))).peekable();
    if named.peek().is_none() || !named.all(|host| host.is_some_and(is_loopback)) {
        return forbidden(
            "without configured keys a request must name this machine as 127.0.0.1, [::1] or localhost, and by no \
             other name; call http://127.0.0.1, or configure [[keys]]",
        );
    }
    for origin in headers.get_all(header::ORIGIN) {
        let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
        if !origin.is_some_and(is_loopback) {
            return forbidden("without configured keys no foreign web page may call; configure [[keys]]");
        }
    }
    Ok(())
}

/// Whether a host, with or without port, is this machine by its fixed names.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(""),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A body that a browser sends without asking first is no JSON request.
///
/// # Errors
/// The content type is missing or another one.
pub(crate) fn is_json(method: &Method, headers: &HeaderMap) -> Result<(), Error> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
    let kind = kind.split(';').next().unwrap_or("").trim();
    if *method != Method::POST || kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::UnsupportedMediaType,
        ErrorOrigin::Caller,
        "the body must be JSON; send 'content-type: application/json'",
    ))
}

fn unauthorized(text: &'static str) -> Error {
    Error::new(ErrorKind::Unauthorized, ErrorOrigin::Caller, text).with_code("invalid_api_key")
}

#[cfg(test)]
mod tests;
