//! Reads one request.

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::{Inbox, MOST_HEAD, ReadError, Request, body};

/// Reads the next request; `None` when the client is done.
///
/// # Errors
/// It is malformed, larger than `most` bytes of body, or the connection fails.
pub(crate) async fn read_request(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    inbox: &mut Inbox,
    most: usize,
) -> Result<Option<Request>, ReadError> {
    let Some(head) = read_head(stream, inbox).await? else { return Ok(None) };
    let mut request = parse_head(&head)?;
    if request.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    request.body = match (request.header("transfer-encoding"), request.header("content-length")) {
        (Some(coding), None) if coding.eq_ignore_ascii_case("chunked") => {
            body::chunked(stream, inbox, most).await?
        }
        (None, Some(length)) => {
            let length: usize = length.parse().map_err(|_| ReadError::Malformed("a wrong content-length"))?;
            body::sized(stream, inbox, length, most).await?
        }
        (None, None) => Vec::new(),
        _ => return Err(ReadError::Malformed("a transfer coding that is not read, or two lengths")),
    };
    Ok(Some(request))
}

async fn read_head(
    stream: &mut (impl AsyncRead + Unpin),
    inbox: &mut Inbox,
) -> Result<Option<Vec<u8>>, ReadError> {
    let mut seen: usize = 0;
    loop {
        let unread = inbox.unread();
        let from = seen.saturating_sub(3);
        if let Some(at) = find(unread.get(from..).unwrap_or_default(), b"\r\n\r\n") {
            let head = unread.get(..from + at).unwrap_or_default().to_vec();
            inbox.consume(from + at + 4);
            return Ok(Some(head));
        }
        seen = unread.len();
        if seen > MOST_HEAD {
            return Err(ReadError::TooLarge);
        }
        if !inbox.fill(stream).await? {
            return if seen == 0 { Ok(None) } else { Err(ReadError::Malformed("an unfinished request")) };
        }
    }
}

pub(super) fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn parse_head(head: &[u8]) -> Result<Request, ReadError> {
    let head = std::str::from_utf8(head).map_err(|_| ReadError::Malformed("headers that are not text"))?;
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(path), Some(version), None) =
        (first.next(), first.next(), first.next(), first.next())
    else {
        return Err(ReadError::Malformed("a wrong request line"));
    };
    if method.is_empty() || !path.starts_with('/') || !version.starts_with("HTTP/1.") {
        return Err(ReadError::Malformed("a wrong request line"));
    }
    let mut request = Request { method: method.into(), path: path.into(), ..Request::default() };
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(ReadError::Malformed("a header without a colon"))?;
        request.headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let close = request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
    request.last = close || version == "HTTP/1.0";
    Ok(request)
}
