//! Counting the tokens of a request's input, for wires that can ask for it.

use trilith_core::{Error, Headers, Turn};

use crate::{Encoded, Target};

/// How a wire asks how many tokens a request's input is.
pub trait Counting: Send + Sync {
    /// What follows the path of a request, for clients and upstreams alike.
    fn path(&self) -> &'static str;

    /// A client's question in items; `headers` as for [`crate::Dialect::decode_request_with`].
    ///
    /// # Errors
    /// The question or one of these headers is wrong; the error names it.
    fn decode_request(&self, headers: &Headers, body: &[u8]) -> Result<Turn, Error>;

    /// The question of how many tokens a turn is, in an upstream's bytes.
    ///
    /// # Errors
    /// As for [`crate::Dialect::encode_request`].
    fn encode_request(&self, turn: &Turn, target: &Target<'_>) -> Result<Encoded, Error>;

    /// An upstream's answer: tokens.
    ///
    /// # Errors
    /// The body holds no count.
    fn decode_answer(&self, body: &[u8]) -> Result<u64, Error>;

    /// The answer for a client.
    fn encode_answer(&self, tokens: u64, out: &mut Vec<u8>);
}
