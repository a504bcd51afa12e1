//! OpenAI Chat Completions.
/// The Chat Completions dialect.
#[derive(Debug)]
pub struct Chat;
