//! Error bodies of upstreams.

use serde_json::value::RawValue;

use crate::{
    DIALECTS, Dialect, chat::Chat, completions::Completions, messages::Messages, responses::Responses,
};

/// An error body of Chat Completions; see [`error`].
pub fn fuzz_chat_error(input: &[u8]) {
    error(&Chat, input);
}

/// An error body of Responses; see [`error`].
pub fn fuzz_responses_error(input: &[u8]) {
    error(&Responses, input);
}

/// An error body of Messages; see [`error`].
pub fn fuzz_messages_error(input: &[u8]) {
    error(&Messages, input);
}

/// An error body of Completions; see [`error`].
pub fn fuzz_completions_error(input: &[u8]) {
    error(&Completions, input);
}

/// An error of any status has words, and every dialect can show it. The first byte stands for the status.
fn error(dialect: &dyn Dialect, input: &[u8]) {
    let Some((status, body)) = input.split_first() else { return };
    let error = dialect.decode_error(400 + u16::from(*status), body);
    assert!(!error.public.trim().is_empty(), "no words");
    for shown in DIALECTS {
        let mut out = Vec::new();
        let status = shown.render_error(&error, "req_fuzz", &mut out);
        assert!((400..600).contains(&status), "{status}");
        let text = String::from_utf8_lossy(&out);
        assert!(serde_json::from_slice::<&RawValue>(&out).is_ok(), "{}: {text}", shown.id().name());
        assert!(out.len() < 64 * 1024 + 6 * body.len());
    }
}
