//! The count of a request's input tokens (dialects §1.1): the body of a request without what shapes its answer.

use serde::Deserialize;
use trilith_core::{Error, Headers, Turn};

use super::{error::in_body, request};
use crate::{Counting, Encoded, Target, json, typed};

/// `POST /v1/messages/count_tokens`.
#[derive(Debug)]
pub(super) struct CountTokens;

#[derive(Deserialize)]
struct Counted {
    input_tokens: u64,
}

impl Counting for CountTokens {
    fn path(&self) -> &'static str {
        "/count_tokens"
    }

    fn decode_request(&self, headers: &Headers, body: &[u8]) -> Result<Turn, Error> {
        request::decode_count(headers, body)
    }

    fn encode_request(&self, turn: &Turn, target: &Target<'_>) -> Result<Encoded, Error> {
        request::encode_count(turn, target)
    }

    fn decode_answer(&self, body: &[u8]) -> Result<u64, Error> {
        match typed::from_slice::<Counted>(body) {
            Ok(counted) => Ok(counted.input_tokens),
            Err(error) => Err(in_body(body).unwrap_or_else(|| {
                Error::upstream("The upstream sent no count of tokens.").with_source(error)
            })),
        }
    }

    fn encode_answer(&self, tokens: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"input_tokens\":");
        json::int(out, tokens);
        out.push(b'}');
    }
}
