//! Requests of callers.

use serde_json::value::RawValue;
use trilith_core::{StateRef, Turn};

use crate::{
    ALL_CAPABILITIES, DIALECTS, Dialect, Quirks, Target, chat::Chat, completions::Completions,
    messages::Messages, responses::Responses,
};

/// A request of Chat Completions; see [`request`].
pub fn fuzz_chat_request(input: &[u8]) {
    request(&Chat, input);
}

/// A request of Responses; see [`request`].
pub fn fuzz_responses_request(input: &[u8]) {
    request(&Responses, input);
}

/// A request of Messages; see [`request`].
pub fn fuzz_messages_request(input: &[u8]) {
    request(&Messages, input);
}

/// A request of Completions; see [`request`].
pub fn fuzz_completions_request(input: &[u8]) {
    request(&Completions, input);
}

/// What is understood can be sent on in every dialect or is refused; what is sent is JSON, and the dialect itself
/// reads its own words again, understands the same and writes the same.
fn request(dialect: &dyn Dialect, body: &[u8]) {
    let Ok(turn) = dialect.decode_request(body) else { return };
    for other in DIALECTS {
        let Some(sent) = encoded(*other, &turn) else { continue };
        let text = String::from_utf8_lossy(&sent);
        let name = other.id().name();
        assert!(serde_json::from_slice::<&RawValue>(&sent).is_ok(), "{name}: {text}");
        let read = other.decode_request(&sent);
        // Without the history and the sealed items that the runtime puts in, nothing may be left to say.
        let nothing = text.contains(r#""input":[]"#) || text.contains(r#""messages":[]"#);
        if other.id() != dialect.id() || nothing {
            continue;
        }
        assert!(read.is_ok(), "{name}: {read:?}: {text}");
        let Ok(read) = read else { continue };
        let again = encoded(*other, &read).unwrap_or_default();
        assert_eq!(String::from_utf8_lossy(&again), text, "{name}: the second writing differs");
        assert_eq!(other.decode_request(&again).map(meaning), Ok(meaning(read)));
    }
}

fn encoded(dialect: &dyn Dialect, turn: &Turn) -> Option<Vec<u8>> {
    let quirks = Quirks::default();
    let target = Target {
        model: &turn.settings.model,
        stream: turn.stream.stream,
        quirks: &quirks,
        can: &ALL_CAPABILITIES,
    };
    dialect.encode_request(turn, &target).ok().map(|encoded| encoded.body)
}

/// A turn without what no upstream is told: Trilith's own state, and what was lost before.
fn meaning(mut turn: Turn) -> Turn {
    turn.losses.clear();
    turn.state = StateRef::default();
    turn
}
