//! Reads a request's body: by length or in chunks.

use tokio::io::AsyncRead;

use super::{Inbox, ReadError, read::find};

/// Longest line that tells a chunk's size.
const MOST_LINE: usize = 4 << 10;

pub(super) async fn sized(
    stream: &mut (impl AsyncRead + Unpin),
    inbox: &mut Inbox,
    length: usize,
    most: usize,
) -> Result<Vec<u8>, ReadError> {
    if length > most {
        return Err(ReadError::TooLarge);
    }
    let mut body = Vec::new();
    take(stream, inbox, length, &mut body).await?;
    Ok(body)
}

pub(super) async fn chunked(
    stream: &mut (impl AsyncRead + Unpin),
    inbox: &mut Inbox,
    most: usize,
) -> Result<Vec<u8>, ReadError> {
    let mut body = Vec::new();
    loop {
        let line = line(stream, inbox).await?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let size =
            usize::from_str_radix(digits, 16).map_err(|_| ReadError::Malformed("a wrong chunk size"))?;
        if size == 0 {
            while !self::line(stream, inbox).await?.is_empty() {}
            return Ok(body);
        }
        if size > most.saturating_sub(body.len()) {
            return Err(ReadError::TooLarge);
        }
        take(stream, inbox, size, &mut body).await?;
        if !self::line(stream, inbox).await?.is_empty() {
            return Err(ReadError::Malformed("a chunk longer than it says"));
        }
    }
}

/// The next line, without its end.
async fn line(stream: &mut (impl AsyncRead + Unpin), inbox: &mut Inbox) -> Result<String, ReadError> {
    loop {
        if let Some(at) = find(inbox.unread(), b"\r\n") {
            let line = String::from_utf8_lossy(inbox.unread().get(..at).unwrap_or_default()).into_owned();
            inbox.consume(at + 2);
            return Ok(line);
        }
        if inbox.unread().len() > MOST_LINE {
            return Err(ReadError::Malformed("a line that is too long in a chunked body"));
        }
        more(stream, inbox).await?;
    }
}

/// Moves exactly `count` bytes into `body`.
async fn take(
    stream: &mut (impl AsyncRead + Unpin),
    inbox: &mut Inbox,
    count: usize,
    body: &mut Vec<u8>,
) -> Result<(), ReadError> {
    let mut missing = count;
    loop {
        let unread = inbox.unread();
        let some = unread.len().min(missing);
        body.extend_from_slice(unread.get(..some).unwrap_or_default());
        inbox.consume(some);
        missing -= some;
        if missing == 0 {
            return Ok(());
        }
        more(stream, inbox).await?;
    }
}

async fn more(stream: &mut (impl AsyncRead + Unpin), inbox: &mut Inbox) -> Result<(), ReadError> {
    if inbox.fill(stream).await? { Ok(()) } else { Err(ReadError::Malformed("an unfinished body")) }
}
