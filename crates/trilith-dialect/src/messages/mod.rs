//! Anthropic Messages (dialects §1), as Anthropic itself and the servers shaped after it speak it.

mod auth;
mod count;
mod error;
pub mod list;
mod request;
mod response;
mod sniff;
mod spelling;
mod stream;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use trilith_core::{
    Abilities, DialectId, Error, Event, Headers, Hold, Loss, Response, Settings, Shows, StreamOptions, Turn,
};

use crate::{
    Capabilities, Counting, Dialect, Encoded, NameMap, Peek, Quirks, Reader, Sniffed, Target, Writer, json,
    scan::{Kind, Scan},
};

/// The Messages dialect.
#[derive(Debug)]
pub struct Messages;

impl Dialect for Messages {
    fn id(&self) -> DialectId {
        DialectId::Messages
    }

    fn path(&self) -> &'static str {
        "/messages"
    }

    fn counting(&self) -> Option<&'static dyn Counting> {
        Some(&count::CountTokens)
    }

    fn forwarded_headers(&self) -> &'static [&'static str] {
        auth::FORWARDED
    }

    fn standing_headers(&self) -> &'static [(&'static str, &'static str)] {
        auth::STANDING
    }

    fn ping(&self) -> &'static [u8] {
        b"event: ping\ndata: {\"type\": \"ping\"}\n\n"
    }

    fn credential(&self, key: &str) -> (&'static str, String) {
        auth::credential(key)
    }

    fn peek<'a>(&self, scan: &Scan<'a>) -> Result<Peek<'a>, Error> {
        let typed = |name: &'static str, wanted: Kind, what: &'static str| match scan.kind(name) {
            None | Some(Kind::Null) => Ok(()),
            Some(kind) if kind == wanted => Ok(()),
            Some(_) => Err(Error::bad_request(name, format!("{name}: Input should be {what}"))),
        };
        typed("model", Kind::String, "a valid string")?;
        typed("stream", Kind::Bool, "a valid boolean")?;
        Ok(Peek {
            model: scan.string("model"),
            stream: scan.bool("stream").unwrap_or(false),
            stateful: scan.kind("thread").is_some_and(|kind| kind != Kind::Null),
        })
    }

    /// Under the version that [`Dialect::standing_headers`] names.
    fn decode_request(&self, body: &[u8]) -> Result<Turn, Error> {
        let version = (auth::VERSION_HEADER.into(), auth::VERSION.into());
        request::decode(&Headers::from([version]), body)
    }

    fn decode_request_with(&self, headers: &Headers, body: &[u8]) -> Result<Turn, Error> {
        request::decode(headers, body)
    }

    fn abilities(&self, quirks: &Quirks, can: &Capabilities) -> Abilities {
        Abilities {
            several_answers: false,
            several_prompts: false,
            single_tool_call: can.single_tool_call && quirks.takes("tool_choice"),
            stop_strings: if quirks.takes("stop_sequences") { can.stop_strings_of(usize::MAX) } else { 0 },
            blank_stop_strings: false,
            names_stop_string: true,
            forced_tool_choice: can.forced_tool_choice && quirks.takes("tool_choice"),
            json_schema: can.json_schema && quirks.takes("output_config"),
            reads: can.reads(),
            empty_answers: true,
            truncation: false,
        }
    }

    fn holds(&self, quirks: &Quirks, can: &Capabilities, settings: &Settings) -> Hold {
        request::holds(self.abilities(quirks, can), can, settings)
    }

    fn shows(&self) -> Shows {
        Shows { stop_string: true }
    }

    fn encode_request(&self, turn: &Turn, target: &Target<'_>) -> Result<Encoded, Error> {
        request::encode(turn, target)
    }

    fn reader(&self, names: NameMap) -> Box<dyn Reader> {
        Box::new(stream::MessagesReader::new(names))
    }

    fn decode_response(&self, body: &[u8], names: &NameMap, out: &mut Vec<Event>) -> Result<(), Error> {
        response::decode(body, names, out)
    }

    fn decode_error(&self, status: u16, body: &[u8]) -> Error {
        error::decode(status, body)
    }

    fn writer(&self, _options: StreamOptions) -> Box<dyn Writer> {
        Box::new(stream::MessagesWriter::default())
    }

    fn encode_response(&self, response: &Response, out: &mut Vec<u8>) {
        response::encode(response, out);
    }

    fn response_losses(&self, response: &Response) -> Vec<Loss> {
        response::losses(response)
    }

    fn respell<'p>(&self, path: &'p str) -> Cow<'p, str> {
        spelling::respell(path)
    }

    fn render_error(&self, error: &Error, request_id: &str, out: &mut Vec<u8>) -> u16 {
        error::render(error, request_id, out)
    }

    fn sniff(&self, data: &[u8], seen: &mut Sniffed) {
        sniff::sniff(data, seen);
    }
}
