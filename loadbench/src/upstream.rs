//! The scripted upstream: a raw HTTP/1.1 responder that answers from prebuilt bytes.
//!
//! It is kept as cheap as a server can be, so that what a proxy adds is visible. The request chooses the
//! answer: the path gives the dialect, `"stream":true` a stream, a model name that ends in `-paced` one
//! event every 20 ms, any other a burst in one write. A model name that does not start with the dialect's
//! name is refused: a route that skips its translation must not look fast.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use memchr::memmem;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep_until};

use crate::answers::Answers;
use crate::http1::{BadFraming, BodyScanner, parse_head};
use crate::wire::{Dialect, PACE_MS, Scenario, now_micros};

/// Largest accepted request, in bytes.
const MAX_REQUEST: usize = 16 * 1024 * 1024;
const READ_SIZE: usize = 64 * 1024;

struct Script {
    chat: Answers,
    responses: Answers,
    messages: Answers,
    next_id: AtomicU64,
}

/// Serves on `listener` until the process ends.
pub(crate) async fn serve(listener: TcpListener) -> io::Result<()> {
    let script = Arc::new(Script {
        chat: Answers::new(Dialect::Chat),
        responses: Answers::new(Dialect::Responses),
        messages: Answers::new(Dialect::Messages),
        next_id: AtomicU64::new(1),
    });
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(connection(stream, Arc::clone(&script)));
    }
}

/// A failed connection only ends itself: its caller sees the close.
async fn connection(mut stream: TcpStream, script: Arc<Script>) -> io::Result<()> {
    let mut input = Vec::with_capacity(READ_SIZE);
    let mut output = Vec::with_capacity(READ_SIZE);
    while let Some(request) = read_request(&mut stream, &mut input).await? {
        let bytes = input.get(..request.len).unwrap_or_default();
        let body = input.get(request.head..request.len).unwrap_or_default();
        let answer = choose(bytes, body);
        answer.send(&mut stream, &script, &mut output).await?;
        input.drain(..request.len);
    }
    Ok(())
}

/// Where a request at the start of the input ends.
pub(crate) struct RequestExtent {
    /// Bytes of its head.
    pub(crate) head: usize,
    /// Bytes of head and body as they came.
    pub(crate) len: usize,
}

/// Reads until `input` starts with a whole request; `None` when the caller has closed.
pub(crate) async fn read_request(
    stream: &mut TcpStream,
    input: &mut Vec<u8>,
) -> io::Result<Option<RequestExtent>> {
    let mut body: Option<(usize, BodyScanner)> = None;
    let mut scanned = 0;
    loop {
        if body.is_none()
            && let Some(head) = parse_head(input).map_err(invalid)?
        {
            scanned = head.len;
            body = Some((head.len, BodyScanner::of_request(head.framing)));
        }
        if let Some((head, scanner)) = &mut body {
            let fresh = input.get(scanned..).unwrap_or_default();
            if let Some(used) = scanner.feed(fresh, &mut |_| ()).map_err(invalid)? {
                return Ok(Some(RequestExtent { head: *head, len: scanned + used }));
            }
            scanned = input.len();
        }
        if input.len() > MAX_REQUEST {
            return Err(invalid(BadFraming("request too long")));
        }
        input.reserve(READ_SIZE);
        if stream.read_buf(input).await? == 0 {
            return Ok(None);
        }
    }
}

/// Framing faults as I/O errors, which end a connection.
pub(crate) fn invalid(fault: BadFraming) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, fault.0)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Health,
    NotFound,
    WrongRoute,
    Plain(Dialect),
    Burst(Dialect, bool),
    Paced(Dialect, bool),
}

fn choose(request: &[u8], body: &[u8]) -> Answer {
    let line = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let called = |dialect: &Dialect| memmem::find(line, dialect.path().as_bytes()).is_some();
    let Some(dialect) = Dialect::ALL.into_iter().find(called) else {
        return if line.starts_with(b"GET /health") { Answer::Health } else { Answer::NotFound };
    };
    let model = member(body, b"\"model\"").and_then(|value| value.strip_prefix(b"\""));
    let model = model.and_then(|value| value.split(|byte| *byte == b'"').next()).unwrap_or_default();
    if !model.starts_with(dialect.name().as_bytes()) {
        return Answer::WrongRoute;
    }
    if !member(body, b"\"stream\"").is_some_and(|value| value.starts_with(b"true")) {
        return Answer::Plain(dialect);
    }
    let usage = member(body, b"\"include_usage\"").is_some_and(|value| value.starts_with(b"true"));
    if model.ends_with(Scenario::Paced.model_suffix().as_bytes()) {
        Answer::Paced(dialect, usage)
    } else {
        Answer::Burst(dialect, usage)
    }
}

/// What follows the first `"key":` of a JSON text; the benchmark's bodies have no such key in a string.
fn member<'a>(body: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let at = memmem::find(body, key)? + key.len();
    let rest = body.get(at..)?.trim_ascii_start();
    Some(rest.strip_prefix(b":")?.trim_ascii_start())
}

impl Answer {
    async fn send(self, stream: &mut TcpStream, script: &Script, output: &mut Vec<u8>) -> io::Result<()> {
        let id = script.next_id.fetch_add(1, Ordering::Relaxed);
        let of = |dialect| match dialect {
            Dialect::Chat => &script.chat,
            Dialect::Responses => &script.responses,
            Dialect::Messages => &script.messages,
        };
        output.clear();
        match self {
            Self::Health => output.extend_from_slice(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"),
            Self::NotFound => {
                output.extend_from_slice(b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}");
            }
            Self::WrongRoute => {
                output.extend_from_slice(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}");
            }
            Self::Plain(dialect) => of(dialect).plain.render(id, 0, output),
            Self::Burst(dialect, true) => of(dialect).burst_usage.render(id, 0, output),
            Self::Burst(dialect, false) => of(dialect).burst.render(id, 0, output),
            Self::Paced(dialect, usage) => return paced(stream, of(dialect), id, usage, output).await,
        }
        stream.write_all(output).await
    }
}

async fn paced(
    stream: &mut TcpStream,
    answers: &Answers,
    id: u64,
    usage: bool,
    output: &mut Vec<u8>,
) -> io::Result<()> {
    answers.paced_open.render(id, 0, output);
    stream.write_all(output).await?;
    let mut due = Instant::now();
    for token in &answers.paced_tokens {
        due += Duration::from_millis(PACE_MS);
        sleep_until(due).await;
        output.clear();
        token.render(id, now_micros(), output);
        stream.write_all(output).await?;
    }
    output.clear();
    let close = if usage { &answers.paced_close_usage } else { &answers.paced_close };
    close.render(id, now_micros(), output);
    stream.write_all(output).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bodies::body;

    #[test]
    fn the_request_chooses_the_answer() {
        for dialect in Dialect::ALL {
            let line = format!("POST {} HTTP/1.1\r\n", dialect.path());
            let usage = dialect == Dialect::Chat;
            for (scenario, want) in [
                (Scenario::Plain, Answer::Plain(dialect)),
                (Scenario::Burst, Answer::Burst(dialect, usage)),
                (Scenario::Agent, Answer::Burst(dialect, usage)),
                (Scenario::Paced, Answer::Paced(dialect, usage)),
            ] {
                let model = format!("{}-up{}", dialect.name(), scenario.model_suffix());
                let body = body(dialect, scenario, &model, None);
                assert_eq!(choose(line.as_bytes(), body.as_bytes()), want);
                let spaced = body.replacen("\"stream\":", "\"stream\" : ", 1);
                assert_eq!(choose(line.as_bytes(), spaced.as_bytes()), want);
            }
        }
        let untranslated = body(Dialect::Chat, Scenario::Plain, "responses-up-burst", None);
        let line = b"POST /v1/chat/completions HTTP/1.1\r\n";
        assert_eq!(choose(line, untranslated.as_bytes()), Answer::WrongRoute);
        assert_eq!(choose(b"GET /health HTTP/1.1\r\n", b""), Answer::Health);
    }
}
