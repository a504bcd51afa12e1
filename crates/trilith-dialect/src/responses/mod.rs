//! OpenAI Responses and Open Responses.
//!
//! Where the two published specifications differ, the wire is one that both accept: `[DONE]` follows the
//! terminal event, optional members are left out instead of null, a response has every key that either asks
//! for, and the `error` event has its members nested and at the top. Unknown top-level request fields are
//! accepted and go along to upstreams of this dialect.

mod call_id;
mod field;
mod item;
mod object;
mod request;
mod response;
mod sniff;
mod stream;
#[cfg(test)]
mod tests;
mod tool;

use std::borrow::Cow;

use trilith_core::{
    Abilities, DialectId, Error, Event, Hold, Loss, Response, Settings, Shows, StreamOptions, Turn,
};

use crate::{
    capability::Capabilities,
    dialect::{Dialect, Encoded, Peek, Quirks, Reader, Sniffed, Target, Writer},
    names::NameMap,
    openai_error,
    scan::Scan,
    schema, spelling,
};

pub use response::{encode_deleted, encode_item, encode_item_list};

/// The Responses dialect.
#[derive(Debug)]
pub struct Responses;

impl Dialect for Responses {
    fn id(&self) -> DialectId {
        DialectId::Responses
    }

    fn path(&self) -> &'static str {
        "/responses"
    }

    fn forwarded_headers(&self) -> &'static [&'static str] {
        // What Codex uses to tell its modes and threads apart (clients §Codex).
        &[
            "openai-beta",
            "x-openai-internal-codex-responses-lite",
            "x-codex-beta-features",
            "x-codex-turn-metadata",
            "x-codex-window-id",
            "session-id",
            "thread-id",
            "originator",
            "x-client-request-id",
        ]
    }

    fn credential(&self, key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }

    fn peek<'a>(&self, scan: &Scan<'a>) -> Result<Peek<'a>, Error> {
        sniff::peek(scan)
    }

    fn decode_request(&self, body: &[u8]) -> Result<Turn, Error> {
        request::decode(body)
    }

    fn abilities(&self, quirks: &Quirks, can: &Capabilities) -> Abilities {
        Abilities {
            several_answers: false,
            several_prompts: false,
            single_tool_call: can.single_tool_call && quirks.takes("parallel_tool_calls"),
            stop_strings: 0,
            blank_stop_strings: true,
            names_stop_string: false,
            forced_tool_choice: can.forced_tool_choice && quirks.takes("tool_choice"),
            json_schema: can.json_schema && quirks.takes("text"),
            reads: can.reads(),
            empty_answers: false,
            truncation: quirks.takes("truncation"),
        }
    }

    fn holds(&self, quirks: &Quirks, can: &Capabilities, settings: &Settings) -> Hold {
        schema::openai(self.abilities(quirks, can), quirks.takes("text"), settings)
    }

    fn shows(&self) -> Shows {
        Shows { stop_string: false }
    }

    fn encode_request(&self, turn: &Turn, target: &Target<'_>) -> Result<Encoded, Error> {
        request::encode(turn, target)
    }

    fn reader(&self, names: NameMap) -> Box<dyn Reader> {
        Box::new(stream::ResponsesReader::new(names))
    }

    fn decode_response(&self, body: &[u8], names: &NameMap, out: &mut Vec<Event>) -> Result<(), Error> {
        response::decode(body, names, out)
    }

    fn decode_error(&self, status: u16, body: &[u8]) -> Error {
        openai_error::decode(status, body)
    }

    fn writer(&self, options: StreamOptions) -> Box<dyn Writer> {
        Box::new(stream::ResponsesWriter::new(options))
    }

    fn encode_response(&self, response: &Response, out: &mut Vec<u8>) {
        response::render(out, response, &response::Shown::of(response));
    }

    fn response_losses(&self, response: &Response) -> Vec<Loss> {
        response::losses(response)
    }

    fn render_error(&self, error: &Error, _request_id: &str, out: &mut Vec<u8>) -> u16 {
        openai_error::render(error, spelling::responses, out)
    }

    fn respell<'p>(&self, path: &'p str) -> Cow<'p, str> {
        spelling::responses(path)
    }

    fn sniff(&self, data: &[u8], seen: &mut Sniffed) {
        sniff::sniff(data, seen);
    }
}
