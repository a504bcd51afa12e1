//! A client's request body, whole and bounded.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use trilith_core::{Error, ErrorKind, ErrorOrigin};

/// Reads a body of at most `limit` bytes, of which something comes again within `silence`.
///
/// # Errors
/// The body is larger (nothing more of it is read then), compressed, stopped coming, or was cut off by the client.
pub(crate) async fn read(
    headers: &HeaderMap,
    body: &mut Incoming,
    limit: usize,
    silence: Duration,
) -> Result<Bytes, Error> {
    if headers.get(header::CONTENT_ENCODING).is_some_and(|coding| coding != "identity") {
        return Err(Error::new(
            ErrorKind::UnsupportedMediaType,
            ErrorOrigin::Caller,
            "compressed request bodies are not read; send the body without 'content-encoding'",
        ));
    }
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large(limit));
    }
    let mut first = Bytes::new();
    let mut rest: Option<BytesMut> = None;
    loop {
        let frame = tokio::time::timeout(silence, body.frame()).await;
        let Some(frame) = frame.map_err(|_| stopped(silence))? else { break };
        let frame = frame.map_err(|error| {
            Error::new(ErrorKind::BadRequest, ErrorOrigin::Caller, "the request body was cut off")
                .with_source(error)
        })?;
        let Ok(data) = frame.into_data() else { continue };
        let so_far = rest.as_ref().map_or(first.len(), BytesMut::len);
        if so_far.saturating_add(data.len()) > limit {
            return Err(too_large(limit));
        }
        match &mut rest {
            Some(rest) => rest.extend_from_slice(&data),
            None if first.is_empty() => first = data,
            None => {
                let whole = usize::try_from(body.size_hint().lower()).unwrap_or(0).min(limit);
                let mut all = BytesMut::with_capacity((first.len() + data.len() + whole).max(16 << 10));
                all.extend_from_slice(&first);
                all.extend_from_slice(&data);
                rest = Some(all);
            }
        }
    }
    Ok(rest.map_or(first, BytesMut::freeze))
}

/// The most bytes of an unwanted body that are taken, and the longest time for them.
const DISCARDED: usize = 256 << 10;
const PATIENCE: Duration = Duration::from_millis(500);

/// Takes what is left of a body, so that the connection can go on. Says whether nothing is left.
pub(crate) async fn discard(body: &mut Incoming) -> bool {
    if body.is_end_stream() {
        return true;
    }
    let take = async {
        let mut taken = 0;
        while let Some(frame) = body.frame().await {
            taken += frame.ok()?.data_ref().map_or(0, Bytes::len);
            if taken > DISCARDED {
                return None;
            }
        }
        Some(())
    };
    matches!(tokio::time::timeout(PATIENCE, take).await, Ok(Some(())))
}

fn stopped(silence: Duration) -> Error {
    Error::new(
        ErrorKind::BadRequest,
        ErrorOrigin::Caller,
        format!("nothing more of the request body came within {silence:?}; send it whole"),
    )
}

fn too_large(limit: usize) -> Error {
    Error::new(
        ErrorKind::TooLarge,
        ErrorOrigin::Caller,
        format!(
            "the request body is over {limit} bytes; send less, or ask the operator to raise server.max_body_bytes"
        ),
    )
}
