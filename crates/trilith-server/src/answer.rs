//! What goes back to a client.

use std::{
    pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use http_body::{Body, Frame, SizeHint};
use trilith_core::{DialectId, Error, ErrorKind, ErrorOrigin, Pin, Retry};
use trilith_dialect::{dialect, rate_limits};

use crate::{losses, relay::RelayBody, stream::RunBody};

/// The upstream's id of the request; the caller's own header of that name holds ours.
const UPSTREAM_REQUEST_ID: &str = "x-trilith-upstream-request-id";

static LOCAL_ONLY: HeaderName = HeaderName::from_static("x-trilith-local-only");
static ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The body of an answer.
pub(crate) enum Answer {
    /// Bytes that are there.
    Whole(Option<Bytes>),
    /// A response that is being made.
    Run(Box<RunBody>),
    /// An upstream's bytes.
    Relay(Box<RelayBody>),
}

/// A failure of the answer's body: the connection is cut, so that the client does not take it for whole.
pub(crate) type BodyError = Box<dyn std::error::Error + Send + Sync>;

impl Body for Answer {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: pin::Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let chunk = match &mut *self {
            Self::Whole(bytes) => return Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Run(run) => run.poll_chunk(context).map(|chunk| chunk.map(Ok)),
            Self::Relay(relay) => relay.poll_chunk(context),
        };
        chunk.map(|chunk| chunk.map(|chunk| chunk.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::Run(_) | Self::Relay(_) => SizeHint::default(),
        }
    }
}

/// A whole JSON answer.
pub(crate) fn json(status: StatusCode, body: impl Into<Bytes>) -> Response<Answer> {
    with_type(status, HeaderValue::from_static("application/json"), Answer::Whole(Some(body.into())))
}

/// An event stream.
pub(crate) fn events(body: Answer) -> Response<Answer> {
    let mut answer =
        with_type(StatusCode::OK, HeaderValue::from_static("text/event-stream; charset=utf-8"), body);
    // Proxies in between would otherwise hold events back.
    answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer.headers_mut().insert(ACCEL_BUFFERING.clone(), HeaderValue::from_static("no"));
    answer
}

pub(crate) fn with_type(status: StatusCode, kind: HeaderValue, body: Answer) -> Response<Answer> {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, kind);
    answer
}

/// Says which rule held a request to local targets.
pub(crate) fn add_pin(headers: &mut HeaderMap, pin: Option<&Arc<Pin>>) {
    if let Some(pin) = pin
        && let Ok(value) = HeaderValue::try_from(losses::ascii(&pin.to_string()))
    {
        headers.insert(LOCAL_ONLY.clone(), value);
    }
}

/// An error in the caller's own dialect; the Responses shape where no dialect is known.
pub(crate) fn error(error: &Error, client: DialectId, request_id: &str) -> Response<Answer> {
    let shape = dialect(client).or_else(|| dialect(DialectId::Responses));
    let mut body = Vec::with_capacity(256);
    let status = shape.map_or(500, |shape| shape.render_error(error, request_id, &mut body));
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut answer = json(status, body);
    let headers = answer.headers_mut();
    if let Retry::Same(Some(pause)) = error.retry {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(pause.as_secs_f64().ceil() as u64));
        headers.insert(
            "retry-after-ms",
            HeaderValue::from(u64::try_from(pause.as_millis()).unwrap_or(u64::MAX)),
        );
    }
    // A pause and whether to try again are said by the error itself, which knows what was tried here.
    for (name, value) in error.headers.iter().flat_map(|told| told.iter()) {
        if (rate_limits::is_limit(name) || &**name == UPSTREAM_REQUEST_ID)
            && let (Ok(name), Ok(value)) = (HeaderName::try_from(&**name), HeaderValue::try_from(&**value))
        {
            headers.insert(name, value);
        }
    }
    if error.kind == ErrorKind::UpgradeRequired {
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    }
    // What the caller wrote wrongly stays wrong; SDKs obey this header literally.
    if error.origin == ErrorOrigin::Caller && error.retry == Retry::Never {
        headers.insert("x-should-retry", HeaderValue::from_static("false"));
    }
    answer
}
