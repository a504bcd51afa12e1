//! Puts an answer on the wire: head, framing, compression, pieces, and the byte at which it ends early.

use std::io;

use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::{
    encode::Encoder,
    play::Head,
    script::{Framing, Halt, Wire},
};

/// One answer on its way.
pub(super) struct Sender {
    chunked: bool,
    encoder: Encoder,
    piece: Option<usize>,
    halt: Option<(u64, Halt)>,
    sent: u64,
}

impl Sender {
    /// Sends the head. `length` is the body's, where it is known.
    pub(super) async fn begin(
        write: &mut (impl AsyncWrite + Unpin),
        wire: &Wire,
        head: &Head,
        length: Option<usize>,
    ) -> io::Result<Self> {
        let encoder = Encoder::new(wire.coding);
        let until_close = wire.framing == Framing::UntilClose;
        let length = length.filter(|_| !until_close && encoder.name().is_none());
        let chunked = length.is_none() && !until_close;
        let mut text = format!("HTTP/1.1 {} {}\r\n", head.status, reason(head.status));
        let mut add = |name: &str, value: &str| {
            if !wire.headers.iter().any(|(known, _)| known == name) {
                text.push_str(&format!("{name}: {value}\r\n"));
            }
        };
        add("content-type", head.content_type);
        if let Some(coding) = encoder.name() {
            add("content-encoding", coding);
        }
        match length {
            Some(length) => add("content-length", &length.to_string()),
            None if chunked => add("transfer-encoding", "chunked"),
            None => add("connection", "close"),
        }
        for (name, value) in &wire.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        write.write_all(text.as_bytes()).await?;
        Ok(Self { chunked, encoder, piece: wire.chunk, halt: wire.halt, sent: 0 })
    }

    /// Sends a piece of the body; says how to end when this is where the answer ends early.
    pub(super) async fn send(
        &mut self,
        write: &mut (impl AsyncWrite + Unpin),
        bytes: Vec<u8>,
    ) -> io::Result<Option<Halt>> {
        let bytes = self.encoder.piece(bytes);
        self.write(write, &bytes).await
    }

    /// Ends the body in order.
    pub(super) async fn end(mut self, write: &mut (impl AsyncWrite + Unpin)) -> io::Result<Option<Halt>> {
        let encoder = std::mem::replace(&mut self.encoder, Encoder::Plain);
        let rest = encoder.end();
        if let Some(halt) = self.write(write, &rest).await? {
            return Ok(Some(halt));
        }
        if self.chunked {
            write.write_all(b"0\r\n\r\n").await?;
        }
        write.flush().await?;
        Ok(None)
    }

    async fn write(
        &mut self,
        write: &mut (impl AsyncWrite + Unpin),
        bytes: &[u8],
    ) -> io::Result<Option<Halt>> {
        let left = self.halt.map(|(after, halt)| (after.saturating_sub(self.sent), halt));
        let (bytes, halt) = match left {
            Some((left, halt)) if left <= bytes.len() as u64 => {
                let left = usize::try_from(left).unwrap_or(bytes.len());
                (bytes.get(..left).unwrap_or(bytes), Some(halt))
            }
            _ => (bytes, None),
        };
        for piece in bytes.chunks(self.piece.unwrap_or(bytes.len()).max(1)) {
            let mut out = Vec::with_capacity(piece.len() + 16);
            if self.chunked {
                out.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
            }
            out.extend_from_slice(piece);
            if self.chunked {
                out.extend_from_slice(b"\r\n");
            }
            write.write_all(&out).await?;
            if self.piece.is_some() {
                // Lets the receiver read this piece by itself.
                tokio::task::yield_now().await;
            }
        }
        self.sent += bytes.len() as u64;
        Ok(halt)
    }
}

/// Answers in plain words and ends the connection.
pub(super) async fn plain(write: &mut (impl AsyncWrite + Unpin), status: u16, why: &str) -> io::Result<()> {
    let reason = reason(status);
    let length = why.len();
    let text = format!(
        "HTTP/1.1 {status} {reason}\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{why}"
    );
    write.write_all(text.as_bytes()).await?;
    write.flush().await
}

const fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        _ => "Scripted",
    }
}
