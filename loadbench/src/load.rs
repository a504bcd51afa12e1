//! The closed-loop load generator: every connection sends its next request when its answer is complete.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use memchr::memmem;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::bodies::body;
use crate::http1::{BodyScanner, parse_head};
use crate::wire::{Dialect, LAST_TOKEN, STAMP_DIGITS, STAMP_MARK, Scenario, TOKENS, now_micros};

/// Errors after which a batch ends early.
const MAX_ERRORS: usize = 20;
/// How long an answer may take before the connection counts as stalled.
const STALL: Duration = Duration::from_secs(10);
const READ_SIZE: usize = 64 * 1024;

/// What is sent, and to whom.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// The subject's listener.
    pub(crate) addr: SocketAddr,
    /// The caller's dialect.
    pub(crate) dialect: Dialect,
    /// The request's shape.
    pub(crate) scenario: Scenario,
    /// The model name; its ending has to fit the scenario.
    pub(crate) model: String,
    /// The `store` member, when it is sent.
    pub(crate) store: Option<bool>,
}

impl Target {
    fn request(&self) -> Vec<u8> {
        let body = body(self.dialect, self.scenario, &self.model, self.store);
        let version = match self.dialect {
            Dialect::Messages => "anthropic-version: 2023-06-01\r\n",
            Dialect::Chat | Dialect::Responses => "",
        };
        format!(
            "POST {} HTTP/1.1\r\nhost: {}\r\nuser-agent: trilith-bench\r\naccept: */*\r\n{version}\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.dialect.path(),
            self.addr,
            body.len()
        )
        .into_bytes()
    }

    /// The text that only a complete answer contains.
    fn end_marker(&self) -> &'static str {
        match (self.scenario.streams(), self.dialect) {
            (true, Dialect::Chat) => "data: [DONE]",
            (true, Dialect::Responses) => "\"type\":\"response.completed\"",
            (true, Dialect::Messages) => "\"type\":\"message_stop\"",
            (false, Dialect::Chat) => "\"finish_reason\":\"stop\"",
            (false, Dialect::Responses) => "\"status\":\"completed\"",
            (false, Dialect::Messages) => "\"stop_reason\":\"end_turn\"",
        }
    }
}

/// What a batch measured. Times are in nanoseconds but for chunk delays.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// From the send to the end of the answer, one per good request.
    pub(crate) latency: Vec<u64>,
    /// From the send to the first byte of the answer.
    pub(crate) first_byte: Vec<u64>,
    /// From the upstream's send of a paced event to its arrival, in microseconds.
    pub(crate) chunk_delay: Vec<u64>,
    /// Requests that failed or were answered wrongly.
    pub(crate) errors: usize,
    /// The first failure's description.
    pub(crate) first_error: Option<String>,
    /// How long the batch took.
    pub(crate) wall: Duration,
}

impl Tally {
    /// Adds another batch of the same kind.
    pub(crate) fn merge(&mut self, other: Self) {
        self.latency.extend(other.latency);
        self.first_byte.extend(other.first_byte);
        self.chunk_delay.extend(other.chunk_delay);
        self.errors += other.errors;
        self.first_error = self.first_error.take().or(other.first_error);
        self.wall += other.wall;
    }

    fn fail(&mut self, reason: String) {
        self.errors += 1;
        self.first_error.get_or_insert(reason);
    }
}

/// The value below which `share` (0..=1) of `values` lie; sorts them.
pub(crate) fn percentile(values: &mut [u64], share: f64) -> Option<u64> {
    values.sort_unstable();
    let last = values.len().checked_sub(1)?;
    values.get((last as f64 * share).round() as usize).copied()
}

/// A fixed number of keep-alive connections to one target.
#[derive(Debug)]
pub(crate) struct Session {
    target: Arc<Target>,
    request: Arc<Vec<u8>>,
    connections: Vec<Connection>,
}

impl Session {
    /// Prepares `concurrency` connections, which open at their first request.
    pub(crate) fn new(target: Target, concurrency: usize) -> Self {
        let request = Arc::new(target.request());
        let connections = (0..concurrency).map(|_| Connection::default()).collect();
        Self { target: Arc::new(target), request, connections }
    }

    /// Sends `requests` requests, or fewer when `limit` is over.
    pub(crate) async fn run(&mut self, requests: usize, limit: Duration) -> Tally {
        let left = Arc::new(AtomicUsize::new(requests));
        let started = Instant::now();
        let mut tasks = JoinSet::new();
        for connection in std::mem::take(&mut self.connections) {
            let (target, request, left) =
                (Arc::clone(&self.target), Arc::clone(&self.request), Arc::clone(&left));
            tasks.spawn(connection.work(target, request, left, started + limit));
        }
        let mut total = Tally::default();
        while let Some(done) = tasks.join_next().await {
            match done {
                Ok((connection, tally)) => {
                    total.merge(tally);
                    self.connections.push(connection);
                }
                Err(fault) => total.fail(fault.to_string()),
            }
        }
        total.wall = started.elapsed();
        total
    }
}

#[derive(Debug, Default)]
struct Connection {
    stream: Option<TcpStream>,
    input: Vec<u8>,
    body: Vec<u8>,
}

struct Sample {
    latency: Duration,
    first_byte: Duration,
}

impl Connection {
    async fn work(
        mut self,
        target: Arc<Target>,
        request: Arc<Vec<u8>>,
        left: Arc<AtomicUsize>,
        deadline: Instant,
    ) -> (Self, Tally) {
        let mut tally = Tally::default();
        while Instant::now() < deadline && tally.errors < MAX_ERRORS {
            let claimed = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            if claimed.is_err() {
                break;
            }
            let exchange = self.exchange(&target, &request, &mut tally.chunk_delay);
            match timeout(STALL, exchange).await {
                Ok(Ok(sample)) => {
                    tally.latency.push(nanos(sample.latency));
                    tally.first_byte.push(nanos(sample.first_byte));
                }
                Ok(Err(reason)) => {
                    self.stream = None;
                    tally.fail(reason);
                }
                Err(_) => {
                    self.stream = None;
                    tally.fail(format!("no complete answer within {} s", STALL.as_secs()));
                    break;
                }
            }
        }
        (self, tally)
    }

    async fn exchange(
        &mut self,
        target: &Target,
        request: &[u8],
        delays: &mut Vec<u64>,
    ) -> Result<Sample, String> {
        let stream = match &mut self.stream {
            Some(stream) => stream,
            empty => {
                let fresh = TcpStream::connect(target.addr).await.map_err(|e| format!("connect: {e}"))?;
                fresh.set_nodelay(true).map_err(|e| e.to_string())?;
                empty.insert(fresh)
            }
        };
        let sent = Instant::now();
        stream.write_all(request).await.map_err(|e| format!("write: {e}"))?;
        self.input.clear();
        self.body.clear();
        let mut stamps = StampReader::default();
        let mut first_byte = None;
        let mut scanner: Option<BodyScanner> = None;
        loop {
            self.input.reserve(READ_SIZE);
            let got = stream.read_buf(&mut self.input).await.map_err(|e| format!("read: {e}"))?;
            first_byte.get_or_insert_with(|| sent.elapsed());
            if got == 0 {
                return Err("closed inside an answer".to_owned());
            }
            if scanner.is_none() {
                let Some(head) = parse_head(&self.input).map_err(|fault| fault.0.to_owned())? else {
                    continue;
                };
                if self.input.get(9..12) != Some(b"200") {
                    return Err(excerpt(&self.input));
                }
                scanner = Some(BodyScanner::of_response(head.framing));
                self.input.drain(..head.len);
            }
            let Some(scanner) = &mut scanner else { continue };
            let body = &mut self.body;
            let end = scanner
                .feed(&self.input, &mut |data| body.extend_from_slice(data))
                .map_err(|fault| fault.0.to_owned())?;
            self.input.clear();
            if target.scenario == Scenario::Paced {
                stamps.read(&self.body, delays);
            }
            if end.is_some() {
                break;
            }
        }
        let latency = sent.elapsed();
        check(target, &self.body, &stamps)?;
        Ok(Sample { latency, first_byte: first_byte.unwrap_or(latency) })
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn check(target: &Target, body: &[u8], stamps: &StampReader) -> Result<(), String> {
    let missing = |what: &str| Err(format!("incomplete, no {what}: {}", excerpt(body)));
    if memmem::rfind(body, target.end_marker().as_bytes()).is_none() {
        return missing(target.end_marker());
    }
    if target.scenario == Scenario::Paced {
        if stamps.seen == TOKENS { Ok(()) } else { missing("32 paced tokens") }
    } else if memmem::rfind(body, LAST_TOKEN.as_bytes()).is_none() {
        missing(LAST_TOKEN)
    } else {
        Ok(())
    }
}

fn excerpt(bytes: &[u8]) -> String {
    let start = bytes.get(..300).unwrap_or(bytes);
    String::from_utf8_lossy(start).replace(['\r', '\n'], " ")
}

/// Finds the send times in a growing event stream, each once its event is whole.
#[derive(Debug, Default)]
struct StampReader {
    at: usize,
    seen: usize,
}

impl StampReader {
    fn read(&mut self, body: &[u8], delays: &mut Vec<u64>) {
        // Later events repeat the whole text; only the first 32 times are those of tokens.
        while self.seen < TOKENS {
            let rest = body.get(self.at..).unwrap_or_default();
            let Some(mark) = memchr::memchr(STAMP_MARK, rest) else { return };
            let rest = rest.get(mark + 1..).unwrap_or_default();
            let Some(end) = memmem::find(rest, b"\n\n") else { return };
            let digits = rest.get(..STAMP_DIGITS).and_then(|digits| std::str::from_utf8(digits).ok());
            if let Some(sent) = digits.and_then(|digits| digits.parse::<u64>().ok()) {
                delays.push(now_micros().saturating_sub(sent));
                self.seen += 1;
            }
            self.at += mark + 1 + end;
        }
    }
}

#[cfg(test)]
mod tests;
