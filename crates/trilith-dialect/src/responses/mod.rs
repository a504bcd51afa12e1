//! OpenAI Responses and Open Responses.
/// The Responses dialect.
#[derive(Debug)]
pub struct Responses;
