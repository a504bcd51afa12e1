//! Whose key, and which of a client's headers an upstream may see (openai-checklist T1).

/// Client headers that mean something to an upstream. Organisation and project select an account, and the
/// account is Trilith's, so they stay here.
pub(super) const FORWARDED: &[&str] = &["openai-beta"];

pub(super) fn credential(key: &str) -> (&'static str, String) {
    ("authorization", format!("Bearer {key}"))
}
