//! Call ids toward an upstream that takes fewer than callers use (translation contract §6).

use std::borrow::Cow;

use crate::derived::derived;

/// The longest call id that OpenAI takes.
const LONGEST: usize = 64;

/// The id itself when it is legal; else one derived from it, the same for a call and its result.
pub(super) fn wire_call_id(id: &str) -> Cow<'_, str> {
    let legal = !id.is_empty()
        && id.len() <= LONGEST
        && id.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'));
    if legal {
        return Cow::Borrowed(id);
    }
    Cow::Owned(derived("s_", id))
}
