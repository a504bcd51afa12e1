//! What went wrong at a place, as an error that a caller may read.

use std::time::Duration;

use http::HeaderMap;
use trilith_core::{Error, ErrorKind, ErrorOrigin, Retry};
use trilith_dialect::Dialect;
use trilith_net::{ErrorKind as NetKind, NetError, TimeoutPhase};

/// The most of an error body that is read; the rest says nothing new.
pub(crate) const LONGEST_ERROR: usize = 256 << 10;

/// A failed exchange. The text names no host: that is the operator's business and stays in the log.
pub(crate) fn of_exchange(error: NetError) -> Error {
    let upstream = |kind, text: &'static str| Error::new(kind, ErrorOrigin::Upstream, text);
    let mut failure = match error.kind() {
        NetKind::Invalid => Error::internal("the upstream's configuration cannot be used; tell the operator"),
        NetKind::Resolve | NetKind::Connect | NetKind::Tls | NetKind::Proxy => {
            upstream(ErrorKind::UpstreamBroken, "the upstream cannot be reached; try again later")
        }
        NetKind::Timeout(TimeoutPhase::Connect) => {
            upstream(ErrorKind::Timeout, "the upstream cannot be reached in time; try again later")
        }
        NetKind::Timeout(_) => upstream(ErrorKind::Timeout, "the upstream took too long; try again later"),
        NetKind::Closed => upstream(
            ErrorKind::UpstreamBroken,
            "the upstream closed the connection before the end; try again",
        ),
        NetKind::Protocol | NetKind::Decode => {
            upstream(ErrorKind::UpstreamBroken, "the upstream's answer cannot be read; try again later")
        }
        NetKind::TooLarge => upstream(
            ErrorKind::UpstreamBroken,
            "the upstream's answer is too large; ask for less, or ask the operator to raise limits.max_answer_bytes",
        ),
    };
    failure.retry = if error.kind() == NetKind::Closed && error.retryable() {
        Retry::Same(None)
    } else {
        Retry::Elsewhere
    };
    failure.with_source(error)
}

/// An error answer, with the pause that the place asks for.
pub(crate) fn of_answer(dialect: &dyn Dialect, status: u16, headers: &HeaderMap, body: &[u8]) -> Error {
    let mut error = dialect.decode_error(status, body);
    let may_pass = matches!(status, 408 | 409 | 425 | 429 | 500..);
    if let Some(pause) = retry_after(headers)
        && may_pass
        && error.retry != Retry::Never
    {
        error.retry = Retry::Same(Some(pause));
    }
    error
}

/// The error without the credential: some places repeat it in their own words, in any form.
pub(crate) fn without(mut error: Error, secret: Option<&str>) -> Error {
    let Some(secret) = secret.filter(|secret| !secret.is_empty()) else { return error };
    if error.public.contains(secret) {
        error.public = error.public.replace(secret, "[redacted]").into();
    }
    if error.code.as_ref().is_some_and(|code| code.contains(secret)) {
        error.code = None;
    }
    if error.param.as_ref().is_some_and(|param| param.contains(secret)) {
        error.param = None;
    }
    if let Some(fault) = &mut error.upstream {
        for word in [&mut fault.code, &mut fault.kind] {
            *word = word.take().filter(|word| !word.contains(secret));
        }
    }
    error
}

/// `retry-after-ms` (OpenAI, Anthropic) or `retry-after` in seconds; dates are not used by model vendors.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(seconds).ok()
}
