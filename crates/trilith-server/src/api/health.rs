//! Whether the process is there.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode};

use crate::answer::{Answer, with_type};

/// It is. Needs no key: it says nothing.
pub(crate) fn ok() -> Response<Answer> {
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    with_type(StatusCode::OK, kind, Answer::Whole(Some(Bytes::from_static(b"ok\n"))))
}
