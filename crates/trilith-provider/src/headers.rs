//! Which headers cross Trilith, in both directions (translation contract §18).

use http::{HeaderMap, HeaderName, HeaderValue};
use trilith_core::Headers;

/// Answer headers that clients read: limits, pauses, processing time. Everything else stays here.
const PASSED: &[&str] = &[
    "openai-processing-ms",
    "openai-version",
    "retry-after",
    "retry-after-ms",
    "x-ratelimit-limit-requests",
    "x-ratelimit-limit-tokens",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
    "x-should-retry",
];

/// The upstream's id of the request, under the names that vendors use.
const REQUEST_ID: &[&str] = &["x-request-id", "request-id", "x-amzn-requestid", "apim-request-id"];

/// The headers of an answer that go on to the client.
pub(crate) fn answer(headers: &HeaderMap) -> Headers {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let mut passed: Headers =
        PASSED.iter().filter_map(|name| Some(((*name).into(), text(name)?.into()))).collect();
    if let Some(id) = REQUEST_ID.iter().find_map(|name| text(name)) {
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

/// Adds the client's headers to a request; what cannot be a header is left out.
pub(crate) fn add(target: &mut HeaderMap, headers: &Headers) {
    for (name, value) in headers {
        let name = HeaderName::try_from(&**name);
        let value = HeaderValue::try_from(&**value);
        if let (Ok(name), Ok(value)) = (name, value)
            && !OWN.contains(&name.as_str())
        {
            target.append(name, value);
        }
    }
}
