//! A server of a few lines: one answer for each connection, as bytes; what it was sent is kept.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::StreamExt;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use trilith_core::{
    Error, Event, EventStream, Item, ModelCall, Role, Settings, StreamOptions, Turn, Upstream,
};
use trilith_dialect::{Dialect, Quirks, chat::Chat};
use trilith_net::{Client, ClientConfig, Timeouts};

use crate::{Place, Settings as PlaceSettings};

pub(super) const KEY: &str = "sk-very-secret-4711";

/// One request as it came.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) line: String,
    /// Lower-case names.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Asked {
    pub(super) fn all(&self, name: &str) -> Vec<&str> {
        let named = self.headers.iter().filter(|(known, _)| known == name);
        named.map(|(_, value)| value.as_str()).collect()
    }
}

/// What a connection does after it read a request.
#[derive(Clone)]
pub(super) enum Says {
    /// These bytes, then the end of the connection.
    Bytes(Vec<u8>),
    /// These bytes, then silence.
    Stalls(Vec<u8>),
}

#[derive(Clone, Default)]
pub(super) struct Server {
    pub(super) asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    pub(super) async fn start(&self, says: Says) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::clone(&self.asked);
        start(async move {
            while let Ok((stream, _)) = listener.accept().await {
                start(answer(stream, says.clone(), Arc::clone(&asked)));
            }
        });
        address
    }

    pub(super) fn only(&self) -> Asked {
        let asked = self.asked.lock().unwrap();
        assert_eq!(asked.len(), 1, "{asked:?}");
        asked[0].clone()
    }
}

#[expect(clippy::disallowed_methods, reason = "test servers end with their runtime")]
fn start(task: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(task);
}

async fn answer(mut stream: TcpStream, says: Says, asked: Arc<Mutex<Vec<Asked>>>) {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
    };
    let text = String::from_utf8(bytes[..head].to_vec()).unwrap();
    let mut lines = text.trim_end().split("\r\n");
    let line = lines.next().unwrap().to_owned();
    let pairs = lines.map(|line| line.split_once(": ").unwrap());
    let headers: Vec<_> = pairs.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, length)| length.parse().unwrap());
    while bytes.len() < head + length {
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
    }
    let body = String::from_utf8(bytes[head..].to_vec()).unwrap();
    asked.lock().unwrap().push(Asked { line, headers, body });
    match says {
        Says::Bytes(bytes) => {
            stream.write_all(&bytes).await.ok();
            stream.shutdown().await.ok();
        }
        Says::Stalls(bytes) => {
            stream.write_all(&bytes).await.ok();
            std::future::pending::<()>().await;
        }
    }
}

/// An answer with a length.
pub(super) fn http(status: &str, headers: &str, body: &str) -> Says {
    let length = body.len();
    Says::Bytes(format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}").into_bytes())
}

/// An answer whose body ends with the connection.
pub(super) fn open_ended(headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{headers}\r\n{body}").into_bytes()
}

/// An answer in chunks; `whole` says whether the last one is sent.
pub(super) fn chunked(headers: &str, pieces: &[&str], whole: bool) -> Vec<u8> {
    let mut out = format!("HTTP/1.1 200 OK\r\n{headers}transfer-encoding: chunked\r\n\r\n");
    for piece in pieces {
        out.push_str(&format!("{:x}\r\n{piece}\r\n", piece.len()));
    }
    if whole {
        out.push_str("0\r\n\r\n");
    }
    out.into_bytes()
}

pub(super) fn settings(base_url: String, dialect: &'static dyn Dialect) -> PlaceSettings {
    PlaceSettings {
        name: "vendor".into(),
        dialect,
        base_url,
        path: None,
        models_path: None,
        api_key: Some(KEY.into()),
        headers: Vec::new(),
        quirks: Quirks::default(),
        capabilities: Arc::default(),
        timeouts: Timeouts::default(),
        max_answer_bytes: 1 << 20,
    }
}

pub(super) fn place(settings: PlaceSettings) -> Place {
    Place::new(settings, Client::new(ClientConfig::default()).unwrap()).unwrap()
}

/// A Chat place at a server that says `says`.
pub(super) async fn chat(says: Says) -> (Place, Server) {
    let server = Server::default();
    let address = server.start(says).await;
    (place(settings(format!("http://{address}/v1"), &Chat)), server)
}

/// A Chat place that waits a tenth of a second at most.
pub(super) async fn impatient(says: Says) -> Place {
    let server = Server::default();
    let address = server.start(says).await;
    let mut settings = settings(format!("http://{address}/v1"), &Chat);
    let short = Duration::from_millis(100);
    settings.timeouts = Timeouts { connect: short, first_byte: short, idle: short, total: None };
    place(settings)
}

pub(super) fn call(stream: bool) -> ModelCall {
    let turn = Turn {
        settings: Arc::new(Settings { model: "small".into(), ..Settings::default() }),
        input: vec![Item::message(Role::User, "hello")],
        stream: StreamOptions { stream, ..StreamOptions::default() },
        ..Turn::default()
    };
    ModelCall { turn: Arc::new(turn), model: "up-small".into(), stream, strict: false, headers: Vec::new() }
}

pub(super) async fn refused(place: &Place, stream: bool) -> Error {
    place.call(call(stream)).await.err().unwrap()
}

/// Everything an answer holds, and the failure behind it.
pub(super) async fn drain(mut answer: EventStream) -> (Vec<Event>, Option<Error>) {
    let mut all = Vec::new();
    while let Some(batch) = answer.events.next().await {
        match batch {
            Ok(batch) => {
                assert!(!batch.is_empty(), "an empty batch");
                all.extend(batch);
            }
            Err(error) => {
                assert!(answer.events.next().await.is_none(), "something after a failure");
                return (all, Some(error));
            }
        }
    }
    (all, None)
}

pub(super) fn text(events: &[Event]) -> String {
    let deltas = events.iter().filter_map(|event| match event {
        Event::TextDelta { delta, .. } => Some(delta.as_str()),
        _ => None,
    });
    deltas.collect()
}

pub(super) fn finished(events: &[Event]) -> bool {
    events.iter().any(|event| matches!(event, Event::Finish(_)))
}

pub(super) const JSON: &str = "content-type: application/json\r\n";
pub(super) const SSE: &str = "content-type: text/event-stream\r\n";

pub(super) const WHOLE: &str = r#"{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi there"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}"#;

/// The frames of a stream that says `hi there`.
pub(super) const FRAMES: [&str; 4] = [
    "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"hi \"}}]}\n\n",
    "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"there\"}}]}\n\n",
    "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    "data: [DONE]\n\n",
];
