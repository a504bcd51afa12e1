//! Framing: where one message of a byte stream ends and the next begins.

pub mod sse;
