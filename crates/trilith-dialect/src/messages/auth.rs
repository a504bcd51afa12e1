//! Whose key, and which headers the wire needs (dialects §1.1).

/// The version header. Without it a request is refused.
pub(super) const VERSION_HEADER: &str = "anthropic-version";

/// The version whose requests may say everything that this wire ever had a field for.
pub(super) const VERSION: &str = "2023-06-01";

/// Client headers that mean something to an upstream. Workspace and user profile select an account, and the
/// account is Trilith's, so they stay here.
pub(super) const FORWARDED: &[&str] = &[VERSION_HEADER, "anthropic-beta"];

/// Headers of every request to an upstream.
pub(super) const STANDING: &[(&str, &str)] = &[(VERSION_HEADER, VERSION)];

pub(super) fn credential(key: &str) -> (&'static str, String) {
    ("x-api-key", key.to_owned())
}
