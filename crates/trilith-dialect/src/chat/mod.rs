//! OpenAI Chat Completions, as OpenAI itself and the many servers shaped after it speak it.

mod auth;
mod object;
mod request;
mod response;
mod stream;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use trilith_core::{
    Abilities, DialectId, Error, Event, Hold, Loss, Reads, Response, Settings, Shows, StreamOptions, Turn,
};

use crate::{
    Capabilities, Dialect, Encoded, NameMap, Peek, Quirks, Reader, Sniffed, Target, Writer,
    chunks::ChunkReader, json, openai_error, scan::Scan, schema, sniff, spelling, values,
};

/// The Chat Completions dialect.
#[derive(Debug)]
pub struct Chat;

impl Dialect for Chat {
    fn id(&self) -> DialectId {
        DialectId::Chat
    }

    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn forwarded_headers(&self) -> &'static [&'static str] {
        auth::FORWARDED
    }

    fn credential(&self, key: &str) -> (&'static str, String) {
        auth::credential(key)
    }

    fn peek<'a>(&self, scan: &Scan<'a>) -> Result<Peek<'a>, Error> {
        values::peek(scan)
    }

    fn decode_request(&self, body: &[u8]) -> Result<Turn, Error> {
        request::decode(body)
    }

    fn abilities(&self, quirks: &Quirks, can: &Capabilities) -> Abilities {
        Abilities {
            several_answers: can.several_answers && quirks.takes("n"),
            several_prompts: false,
            single_tool_call: can.single_tool_call && quirks.takes("parallel_tool_calls"),
            stop_strings: if quirks.takes("stop") { can.stop_strings_of(values::MAX_STOPS) } else { 0 },
            blank_stop_strings: true,
            names_stop_string: false,
            forced_tool_choice: can.forced_tool_choice && quirks.takes("tool_choice"),
            json_schema: can.json_schema && quirks.takes("response_format"),
            reads: Reads { document_urls: false, ..can.reads() },
            empty_answers: false,
            truncation: false,
        }
    }

    fn holds(&self, quirks: &Quirks, can: &Capabilities, settings: &Settings) -> Hold {
        schema::openai(self.abilities(quirks, can), quirks.takes("response_format"), settings)
    }

    fn shows(&self) -> Shows {
        Shows { stop_string: false }
    }

    fn encode_request(&self, turn: &Turn, target: &Target<'_>) -> Result<Encoded, Error> {
        request::encode(turn, target)
    }

    fn reader(&self, names: NameMap) -> Box<dyn Reader> {
        Box::new(ChunkReader::new(stream::ChatChunks::new(names)))
    }

    fn decode_response(&self, body: &[u8], names: &NameMap, out: &mut Vec<Event>) -> Result<(), Error> {
        response::decode(body, names, out)
    }

    fn decode_error(&self, status: u16, body: &[u8]) -> Error {
        openai_error::decode(status, body)
    }

    fn writer(&self, options: StreamOptions) -> Box<dyn Writer> {
        Box::new(stream::ChatWriter::new(options))
    }

    fn encode_response(&self, response: &Response, out: &mut Vec<u8>) {
        response::encode(response, out);
    }

    fn response_losses(&self, response: &Response) -> Vec<Loss> {
        response::losses(response)
    }

    fn render_error(&self, error: &Error, _request_id: &str, out: &mut Vec<u8>) -> u16 {
        openai_error::render(error, spelling::chat, out)
    }

    fn respell<'p>(&self, path: &'p str) -> Cow<'p, str> {
        spelling::chat(path)
    }

    fn sniff(&self, data: &[u8], seen: &mut Sniffed) {
        sniff::sniff(data, seen);
    }
}
