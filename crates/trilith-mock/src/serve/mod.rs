//! The server: accepts connections, picks an answer for each request, plays it.

mod answer;
mod pick;
mod send;

use std::{io, sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use trilith_dialect::Dialect;

use crate::{
    Recorder, Script,
    http::{Inbox, ReadError, Request, read_request},
};
use answer::Next;
use pick::Picker;

/// How a script is played.
#[derive(Clone)]
pub struct Options {
    /// The dialect to play it in.
    pub dialect: &'static dyn Dialect,
    /// Where requests are recorded, if anywhere.
    pub record: Option<Recorder>,
    /// Most bytes of a request's body; more is answered with 413.
    pub max_body: usize,
}

impl Options {
    /// Plays in `dialect`, records nothing, takes bodies of up to 64 MiB.
    pub fn new(dialect: &'static dyn Dialect) -> Self {
        Self { dialect, record: None, max_body: 64 << 20 }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("dialect", &self.dialect.id())
            .field("record", &self.record)
            .field("max_body", &self.max_body)
            .finish()
    }
}

/// What the connections share.
struct Shared {
    script: Script,
    options: Options,
    picker: Picker,
}

/// How long accepting rests after it failed (out of file handles).
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Plays `script` to everybody who connects to `listener`. Never returns by itself; dropping the future ends
/// every connection.
pub async fn serve(listener: TcpListener, script: Script, options: Options) {
    let picker = Picker::new(&script);
    let shared = Arc::new(Shared { script, options, picker });
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let shared = Arc::clone(&shared);
                    connections.spawn(async move { connection(stream, &shared).await.ok() });
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut inbox = Inbox::default();
    loop {
        let request = match read_request(&mut stream, &mut inbox, shared.options.max_body).await {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(()),
            Err(error) => return refuse(&mut stream, error).await,
        };
        let number = shared.picker.count();
        if let Some(record) = &shared.options.record {
            record.request(&request)?;
        }
        match answer::play(&mut stream, &mut inbox, &request, number, shared).await? {
            Next::Request if !request.last => {}
            Next::Request | Next::Close => return Ok(()),
            Next::Reset => return stream.set_zero_linger(),
            Next::Left => {
                if let Some(record) = &shared.options.record {
                    record.disconnected(number)?;
                }
                return Ok(());
            }
        }
    }
}

async fn refuse(stream: &mut TcpStream, error: ReadError) -> io::Result<()> {
    match error {
        ReadError::Io(error) => Err(error),
        ReadError::Malformed(why) => send::plain(stream, 400, why).await,
        ReadError::TooLarge => send::plain(stream, 413, "the request is too large").await,
    }
}

/// The names that `GET …/models` lists.
fn models(script: &Script) -> Vec<u8> {
    let names: Vec<&str> = script.models.iter().map(String::as_str).collect();
    let names = if names.is_empty() { vec!["mock"] } else { names };
    let data: Vec<_> = names
        .into_iter()
        .map(|id| serde_json::json!({ "id": id, "object": "model", "created": 0, "owned_by": "mock" }))
        .collect();
    serde_json::json!({ "object": "list", "data": data }).to_string().into_bytes()
}

/// Whether the request asks for the list of models.
fn asks_for_models(request: &Request) -> bool {
    request.method == "GET" && request.route().ends_with("/models")
}
