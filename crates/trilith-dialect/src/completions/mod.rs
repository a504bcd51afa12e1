//! OpenAI Completions, the older wire that continues a text (openai-checklist §2), as OpenAI itself and completion
//! servers such as vLLM and llama.cpp speak it.

mod auth;
mod request;
mod response;
mod stream;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use trilith_core::{Abilities, DialectId, Error, Event, Loss, Reads, Response, Shows, StreamOptions, Turn};

use crate::{
    Capabilities, Dialect, Encoded, NameMap, Peek, Quirks, Reader, Sniffed, Target, Writer,
    chunks::ChunkReader, openai_error, scan::Scan, sniff, spelling, values,
};

/// This dialect's own fields.
const OWN: DialectId = DialectId::Completions;

/// The Completions dialect.
#[derive(Debug)]
pub struct Completions;

impl Dialect for Completions {
    fn id(&self) -> DialectId {
        OWN
    }

    fn path(&self) -> &'static str {
        "/completions"
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
            several_answers: quirks.takes("n"),
            several_prompts: true,
            single_tool_call: true,
            stop_strings: if quirks.takes("stop") { values::MAX_STOPS } else { 0 },
            blank_stop_strings: true,
            names_stop_string: false,
            // The encoder refuses tools and forms by name: nothing can stand in for them here.
            forced_tool_choice: true,
            json_schema: true,
            // A prompt is text, which is what can be said of a PDF.
            reads: Reads { pdf: false, document_urls: false, ..can.reads() },
            empty_answers: true,
            truncation: false,
        }
    }

    fn shows(&self) -> Shows {
        Shows { stop_string: false }
    }

    fn encode_request(&self, turn: &Turn, target: &Target<'_>) -> Result<Encoded, Error> {
        request::encode(turn, target)
    }

    fn reader(&self, _names: NameMap) -> Box<dyn Reader> {
        Box::new(ChunkReader::new(stream::CompletionChunks::default()))
    }

    fn decode_response(&self, body: &[u8], _names: &NameMap, out: &mut Vec<Event>) -> Result<(), Error> {
        response::decode(body, out)
    }

    fn decode_error(&self, status: u16, body: &[u8]) -> Error {
        openai_error::decode(status, body)
    }

    fn writer(&self, options: StreamOptions) -> Box<dyn Writer> {
        Box::new(stream::CompletionWriter::new(options))
    }

    fn encode_response(&self, response: &Response, out: &mut Vec<u8>) {
        response::encode(response, out);
    }

    fn response_losses(&self, response: &Response) -> Vec<Loss> {
        response::losses(response)
    }

    fn render_error(&self, error: &Error, _request_id: &str, out: &mut Vec<u8>) -> u16 {
        openai_error::render(error, spelling::completions, out)
    }

    fn respell<'p>(&self, path: &'p str) -> Cow<'p, str> {
        spelling::completions(path)
    }

    fn sniff(&self, data: &[u8], seen: &mut Sniffed) {
        sniff::sniff(data, seen);
    }
}
