//! Plays one answer to one request.

use std::io;

use tokio::{io::AsyncRead, net::TcpStream, net::tcp::WriteHalf};
use trilith_core::{Error, Turn};

use super::{Shared, asks_for_models, models, send::Sender};
use crate::{
    http::{Inbox, Request},
    play::{Beat, Head, Player},
    script::{Answer, Framing, Halt, Step, When, Wire},
};

/// What happens to the connection after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Request,
    Close,
    Reset,
    /// The client left before the end.
    Left,
}

pub(super) async fn play(
    stream: &mut TcpStream,
    inbox: &mut Inbox,
    request: &Request,
    number: u64,
    shared: &Shared,
) -> io::Result<Next> {
    if asks_for_models(request) {
        return whole(stream, 200, models(&shared.script)).await;
    }
    let dialect = shared.options.dialect;
    if request.method != "POST" {
        return whole(stream, 405, refusal(shared, Error::bad_request("method", "only POST is answered")))
            .await;
    }
    if !names_path(shared, request)
        && let Some(count) = count(shared, request)
    {
        return whole(stream, 200, count).await;
    }
    if !names_path(shared, request) && !request.route().ends_with(dialect.path()) {
        let why = format!("this mock speaks {} and answers {}", dialect.id().name(), dialect.path());
        return whole(stream, 404, refusal(shared, Error::bad_request("path", why))).await;
    }
    let Some(answer) = shared.picker.pick(&shared.script, request) else {
        let why = "the script has no answer for this request";
        return whole(stream, 500, refusal(shared, Error::internal(why))).await;
    };
    let turn = match dialect.decode_request(&request.body) {
        Ok(turn) => turn,
        // What the dialect spells needs a request; bytes and errors do not.
        Err(error) if answer.steps.iter().any(Step::is_said) => {
            return whole(stream, 400, refusal(shared, error)).await;
        }
        Err(_) => Turn::default(),
    };
    let (head, player) = Player::new(dialect, answer, &turn, number);
    let (mut read, mut write) = stream.split();
    tokio::select! {
        biased;
        played = perform(&mut write, answer, head, player) => Ok(match played {
            Ok(Next::Request) if answer.wire.framing == Framing::UntilClose => Next::Close,
            Ok(next) => next,
            // Nobody reads any more.
            Err(_) => Next::Left,
        }),
        () = until_left(&mut read, inbox) => Ok(Next::Left),
    }
}

/// Whether an answer is meant for this very path, whatever the dialect's own is.
fn names_path(shared: &Shared, request: &Request) -> bool {
    let named = |when: &When| matches!(when, When::Path(text) if request.path.contains(text.as_str()));
    shared.script.answers.iter().any(|answer| answer.when.iter().any(named))
}

/// The answer to the question of how long a request is, in dialects that have it: a token for every four bytes.
fn count(shared: &Shared, request: &Request) -> Option<Vec<u8>> {
    let counting = shared.options.dialect.counting()?;
    if !request.route().ends_with(counting.path()) {
        return None;
    }
    let mut body = Vec::new();
    counting.encode_answer(request.body.len().div_ceil(4) as u64, &mut body);
    Some(body)
}

/// Waits for the client to leave; what it sends meanwhile is kept for the next request.
async fn until_left(read: &mut (impl AsyncRead + Unpin), inbox: &mut Inbox) {
    while !inbox.is_full() {
        if !matches!(inbox.fill(read).await, Ok(true)) {
            return;
        }
    }
    std::future::pending().await
}

async fn perform(
    write: &mut WriteHalf<'_>,
    answer: &Answer,
    head: Head,
    mut player: Player<'_>,
) -> io::Result<Next> {
    let wire = &answer.wire;
    let mut held = Vec::new();
    let mut sender = None;
    let hold = wire.burst || !head.stream;
    if head.stream {
        sender = Some(Sender::begin(write, wire, &head, None).await?);
    }
    while let Some(beat) = player.next() {
        match beat {
            Beat::Bytes(bytes) if hold => held.extend_from_slice(&bytes),
            Beat::Bytes(bytes) => {
                if let Some(halt) = send(&mut sender, write, bytes).await? {
                    return halted(halt).await;
                }
            }
            Beat::Wait(time) => {
                if head.stream
                    && let Some(halt) = send(&mut sender, write, std::mem::take(&mut held)).await?
                {
                    return halted(halt).await;
                }
                tokio::time::sleep(time).await;
            }
            Beat::Halt(halt) => {
                open(&mut sender, write, wire, &head, None).await?;
                send(&mut sender, write, held).await?;
                return halted(halt).await;
            }
        }
    }
    open(&mut sender, write, wire, &head, Some(held.len())).await?;
    if let Some(halt) = send(&mut sender, write, held).await? {
        return halted(halt).await;
    }
    let Some(sender) = sender else { return Ok(Next::Close) };
    sender.end(write).await.map(|halt| halt.map_or(Next::Request, |_| Next::Close))
}

/// Sends the head, if it was not sent yet.
async fn open(
    sender: &mut Option<Sender>,
    write: &mut WriteHalf<'_>,
    wire: &Wire,
    head: &Head,
    length: Option<usize>,
) -> io::Result<()> {
    if sender.is_none() {
        *sender = Some(Sender::begin(write, wire, head, length).await?);
    }
    Ok(())
}

async fn send(
    sender: &mut Option<Sender>,
    write: &mut WriteHalf<'_>,
    bytes: Vec<u8>,
) -> io::Result<Option<Halt>> {
    match sender {
        Some(sender) if !bytes.is_empty() => sender.send(write, bytes).await,
        _ => Ok(None),
    }
}

async fn halted(halt: Halt) -> io::Result<Next> {
    match halt {
        Halt::Close => Ok(Next::Close),
        Halt::Reset => Ok(Next::Reset),
        Halt::Hang => std::future::pending().await,
    }
}

fn refusal(shared: &Shared, error: Error) -> Vec<u8> {
    let mut body = Vec::new();
    shared.options.dialect.render_error(&error, "req_mock", &mut body);
    body
}

async fn whole(stream: &mut TcpStream, status: u16, body: Vec<u8>) -> io::Result<Next> {
    let head = Head { status, content_type: "application/json", stream: false };
    let (_, mut write) = stream.split();
    let mut sender = Sender::begin(&mut write, &Wire::default(), &head, Some(body.len())).await?;
    sender.send(&mut write, body).await?;
    sender.end(&mut write).await?;
    Ok(Next::Request)
}
