//! Which headers cross Trilith, in both directions (translation contract §18).

use http::{HeaderMap, HeaderName, HeaderValue};
use trilith_core::Headers;
use trilith_dialect::rate_limits;

/// Answer headers that clients read, beside limits: pauses, processing time. Everything else stays here.
const PASSED: &[&str] =
    &["openai-processing-ms", "openai-version", "retry-after", "retry-after-ms", "x-should-retry"];

/// The upstream's id of the request, under the names that vendors use.
const REQUEST_ID: &[&str] = &["x-request-id", "request-id", "x-amzn-requestid", "apim-request-id"];

/// The headers of an answer that go on to the client.
pub(crate) fn answer(headers: &HeaderMap) -> Headers {
    let mut passed = Headers::new();
    let mut id: Option<(usize, &str)> = None;
    // An answer has fewer headers than there are names, so that they are gone through and not looked up.
    for (name, value) in headers {
        let name = name.as_str();
        let rank = REQUEST_ID.iter().position(|known| *known == name);
        if rank.is_none() && !PASSED.contains(&name) && !rate_limits::is_limit(name) {
            continue;
        }
        let Ok(text) = value.to_str() else { continue };
        match (rank, id) {
            (Some(rank), Some((best, _))) if best <= rank => {}
            (Some(rank), _) => id = Some((rank, text)),
            // Of several only the first counts.
            (None, _) if passed.iter().any(|(known, _)| **known == *name) => {}
            (None, _) => passed.push((name.into(), text.into())),
        }
    }
    if let Some((_, id)) = id {
        passed.push(("x-trilith-upstream-request-id".into(), id.into()));
    }
    passed
}

/// Credentials, and what the place alone decides: never a client's, whatever its dialect lets through.
const OWN: &[&str] = &[
    "accept",
    "accept-encoding",
    "api-key",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "host",
    "proxy-authorization",
    "transfer-encoding",
    "x-api-key",
    "x-goog-api-key",
];

/// Adds the client's headers to a request; what cannot be a header is left out. One that stands in every
/// request of the dialect is replaced by the client's, unless the operator set it.
pub(crate) fn add(target: &mut HeaderMap, headers: &Headers, standing: &[(&str, &str)]) {
    for (name, value) in headers {
        let name = HeaderName::try_from(&**name);
        let value = HeaderValue::try_from(&**value);
        if let (Ok(name), Ok(value)) = (name, value)
            && !OWN.contains(&name.as_str())
        {
            match standing.iter().find(|(known, _)| *known == name.as_str()) {
                Some((_, plain)) if target.get(&name).is_some_and(|set| set == plain) => {
                    target.insert(name, value);
                }
                Some(_) => {}
                None => {
                    target.append(name, value);
                }
            }
        }
    }
}
