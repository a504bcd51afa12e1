//! One answer as a sequence of beats: bytes to send, silences, and ways to end early.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use trilith_core::{Begin, Created, End, Event, FinishReason, Response, ResponseId, Status, Turn};
use trilith_dialect::{Dialect, Writer};

use crate::{
    script::{Answer, Content, Halt, LineEnd, Shape, Step},
    stage::Stage,
};

/// The clock of every answer: answers are the same in every run.
const UNIX_SECONDS: i64 = 1_800_000_000;

/// One thing to do on the wire.
#[derive(Debug, PartialEq)]
pub(crate) enum Beat {
    Bytes(Vec<u8>),
    Wait(Duration),
    Halt(Halt),
}

/// The head of an answer.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) stream: bool,
}

/// Plays one answer, step by step: nothing is made before it is sent.
pub(crate) struct Player<'a> {
    answer: &'a Answer,
    stage: Stage,
    response: Response,
    /// `None` plays a whole answer.
    writer: Option<Box<dyn Writer>>,
    dialect: &'static dyn Dialect,
    step: usize,
    repeated: u32,
    ready: VecDeque<Beat>,
    started: bool,
    ended: bool,
    /// Verbatim bytes of a whole answer.
    verbatim: Vec<u8>,
}

impl<'a> Player<'a> {
    /// A player for `answer` to request number `number`. `turn` is what the request asks for.
    pub(crate) fn new(
        dialect: &'static dyn Dialect,
        answer: &'a Answer,
        turn: &Turn,
        number: u64,
    ) -> (Head, Self) {
        let shape = answer.wire.shape;
        let stream = shape == Shape::Stream || shape == Shape::AsAsked && turn.stream.stream;
        let failed = answer.steps.iter().find_map(|step| match step {
            Step::Content(Content::Error(failure)) => Some(failure.status),
            _ => None,
        });
        let stream = stream && failed.is_none();
        let created = created(answer, turn, number);
        let player = Self {
            answer,
            stage: Stage::new(&created.id),
            response: Response::new(&created),
            writer: stream.then(|| dialect.writer(turn.stream)),
            dialect,
            step: 0,
            repeated: 0,
            ready: VecDeque::new(),
            started: false,
            ended: false,
            verbatim: Vec::new(),
        };
        let head = Head {
            status: answer.wire.status.or(failed).unwrap_or(200),
            content_type: if stream { "text/event-stream; charset=utf-8" } else { "application/json" },
            stream,
        };
        let mut player = player;
        player.begin(Event::Created(Box::new(created)));
        (head, player)
    }

    /// The next beat; `None` after the last.
    pub(crate) fn next(&mut self) -> Option<Beat> {
        loop {
            if let Some(beat) = self.ready.pop_front() {
                return Some(beat);
            }
            if self.ended {
                return None;
            }
            self.advance();
        }
    }

    /// The first events, kept back until the first content: a script of bytes alone sends only those.
    fn begin(&mut self, created: Event) {
        if self.has_content() {
            self.emit(created, false);
            self.emit(Event::Status(Status::InProgress), true);
            let wire = &self.answer.wire;
            let begin = Begin {
                upstream_id: wire.id.as_deref().map(Into::into),
                model: wire.model.as_deref().map(Into::into),
                created_at: Some(UNIX_SECONDS),
                service_tier: wire.tier.as_deref().map(Into::into),
                system_fingerprint: wire.fingerprint.as_deref().map(Into::into),
                ..Begin::default()
            };
            self.emit(Event::Begin(Box::new(begin)), true);
            self.started = true;
        }
    }

    fn has_content(&self) -> bool {
        self.answer.steps.iter().any(Step::is_content)
    }

    fn advance(&mut self) {
        let Some(step) = self.answer.steps.get(self.step) else { return self.end() };
        let step = match step {
            Step::Repeat(times, inner) => {
                if self.repeated >= *times {
                    self.repeated = 0;
                    self.step += 1;
                    return;
                }
                self.repeated += 1;
                inner
            }
            step => {
                self.step += 1;
                step
            }
        };
        match step {
            Step::Content(content) => {
                for event in self.stage.take(content) {
                    self.emit(event, true);
                }
                if self.stage.failure.is_some() {
                    self.step = self.answer.steps.len();
                }
            }
            Step::Bytes(bytes) => {
                if self.writer.is_some() {
                    self.send(bytes.clone());
                } else {
                    self.verbatim.extend_from_slice(bytes);
                }
            }
            Step::Wait(time) => self.ready.push_back(Beat::Wait(*time)),
            Step::Halt(halt) => {
                self.end_whole();
                self.ready.push_back(Beat::Halt(*halt));
                self.ended = true;
            }
            Step::Repeat(..) => {}
        }
    }

    fn end(&mut self) {
        self.ended = true;
        if self.started && !self.answer.wire.no_finish {
            for event in self.stage.wind_up() {
                self.emit(event, true);
            }
            let end = end_of(&self.response, self.stage.failure.take());
            self.emit(Event::End(Box::new(end)), true);
        }
        self.end_whole();
    }

    /// The body of an answer that is not a stream.
    fn end_whole(&mut self) {
        if self.writer.is_some() {
            return;
        }
        let mut body = Vec::new();
        if self.started {
            match &self.response.error {
                Some(error) => {
                    self.dialect.render_error(error, "req_mock", &mut body);
                }
                None => self.dialect.encode_response(&self.response, &mut body),
            }
        }
        body.append(&mut self.verbatim);
        if !body.is_empty() {
            self.ready.push_back(Beat::Bytes(body));
        }
    }

    fn emit(&mut self, event: Event, apply: bool) {
        // An event that the fold refuses (content after a finish) still goes out: a script may be hostile.
        if apply {
            self.response.apply(&event).ok();
        }
        let Some(writer) = &mut self.writer else { return };
        let mut out = Vec::new();
        writer.write(&event, &self.response, &mut out);
        if self.answer.wire.no_sentinel {
            out = without_sentinel(out);
        }
        self.send(out);
    }

    fn send(&mut self, bytes: Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let bytes = match self.answer.wire.line_end {
            LineEnd::Lf => bytes,
            LineEnd::CrLf => line_ends(&bytes, b"\r\n"),
            LineEnd::Cr => line_ends(&bytes, b"\r"),
        };
        match self.ready.back_mut() {
            Some(Beat::Bytes(last)) => last.extend_from_slice(&bytes),
            _ => self.ready.push_back(Beat::Bytes(bytes)),
        }
    }
}

fn created(answer: &Answer, turn: &Turn, number: u64) -> Created {
    let random: [u8; 10] = std::array::from_fn(|at| number.to_be_bytes().get(at).copied().unwrap_or(0));
    let id = ResponseId::mint(UNIX_SECONDS as u64 * 1000, random).response();
    Created {
        id: answer.wire.id.as_deref().map_or(id, Into::into),
        created_at: UNIX_SECONDS,
        settings: Arc::clone(&turn.settings),
        store: turn.state.store.unwrap_or(true),
        background: turn.state.background,
        previous_response_id: turn.state.previous_response_id.clone(),
        conversation: turn.state.conversation.clone(),
    }
}

/// The end that follows from what was played.
fn end_of(response: &Response, failure: Option<trilith_core::Error>) -> End {
    let cut = |reason: &&FinishReason| matches!(reason, FinishReason::Length | FinishReason::ContentFilter);
    let incomplete = response.finishes.iter().flatten().find(cut).cloned();
    let status = match (&failure, &incomplete) {
        (Some(_), _) => Status::Failed,
        (None, Some(_)) => Status::Incomplete,
        (None, None) => Status::Completed,
    };
    End { status, incomplete, error: failure, at: UNIX_SECONDS }
}

/// The frames without the one that says nothing but that the stream is over.
fn without_sentinel(frames: Vec<u8>) -> Vec<u8> {
    const SENTINEL: &[u8] = b"data: [DONE]\n\n";
    match frames.strip_suffix(SENTINEL) {
        Some(rest) => rest.to_vec(),
        None => frames,
    }
}

fn line_ends(bytes: &[u8], end: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 16);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\n") {
            Some(text) => {
                out.extend_from_slice(text);
                out.extend_from_slice(end);
            }
            None => out.extend_from_slice(line),
        }
    }
    out
}
