//! The write-once floor: a proxy on raw TCP that relays each upstream read with one write.
//!
//! It understands just enough of HTTP/1.1 to know where messages end and to keep both sides alive. It is
//! the least work that a proxy in this language and on this runtime can do.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::http1::{BodyScanner, parse_head};
use crate::upstream::{invalid, read_request};

const READ_SIZE: usize = 64 * 1024;

struct Pool {
    upstream: SocketAddr,
    idle: Mutex<Vec<TcpStream>>,
}

impl Pool {
    fn take_idle(&self) -> Option<TcpStream> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn give_back(&self, stream: TcpStream) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(stream);
    }

    async fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(self.upstream).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

/// Serves on `listener` until the process ends, relaying every request to `upstream`.
pub(crate) async fn serve(listener: TcpListener, upstream: SocketAddr) -> io::Result<()> {
    let pool = Arc::new(Pool { upstream, idle: Mutex::default() });
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(connection(stream, Arc::clone(&pool)));
    }
}

/// A failed connection only ends itself: its caller sees the close.
async fn connection(mut caller: TcpStream, pool: Arc<Pool>) -> io::Result<()> {
    let mut request = Vec::with_capacity(READ_SIZE);
    let mut answer = Vec::with_capacity(READ_SIZE);
    while let Some(extent) = read_request(&mut caller, &mut request).await? {
        let bytes = request.get(..extent.len).unwrap_or_default();
        let (mut upstream, first) = send(&pool, bytes, &mut answer).await?;
        let reusable = relay(&mut upstream, &mut caller, &mut answer, first).await?;
        request.drain(..extent.len);
        if !reusable {
            return Ok(());
        }
        pool.give_back(upstream);
    }
    Ok(())
}

/// Sends the request and waits for the first bytes of the answer; an idle connection that turns out to be
/// closed is replaced once.
async fn send(pool: &Pool, request: &[u8], answer: &mut Vec<u8>) -> io::Result<(TcpStream, usize)> {
    answer.clear();
    if let Some(mut idle) = pool.take_idle()
        && idle.write_all(request).await.is_ok()
        && let Ok(first) = idle.read_buf(answer).await
        && first > 0
    {
        return Ok((idle, first));
    }
    let mut fresh = pool.connect().await?;
    fresh.write_all(request).await?;
    let first = fresh.read_buf(answer).await?;
    Ok((fresh, first))
}

/// Relays one answer, whose first `first` bytes are in `answer`; true when the upstream may be used again.
async fn relay(
    upstream: &mut TcpStream,
    caller: &mut TcpStream,
    answer: &mut Vec<u8>,
    mut first: usize,
) -> io::Result<bool> {
    let head = loop {
        if first == 0 {
            return Ok(false);
        }
        if let Some(head) = parse_head(answer).map_err(invalid)? {
            break head;
        }
        answer.reserve(READ_SIZE);
        first = upstream.read_buf(answer).await?;
    };
    let mut scanner = BodyScanner::of_response(head.framing);
    let mut from = head.len;
    loop {
        let end = scanner.feed(answer.get(from..).unwrap_or_default(), &mut |_| ()).map_err(invalid)?;
        caller.write_all(answer).await?;
        if end.is_some() {
            return Ok(!head.close);
        }
        answer.clear();
        from = 0;
        if upstream.read_buf(answer).await? == 0 {
            return Ok(false);
        }
    }
}
