//! Ids of calls, which this wire holds to few characters.

use crate::derived::derived;

/// Whether the wire takes the id as it is.
pub(super) fn is_legal(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// An id that the wire takes, the same for the same id (translation contract §6).
pub(super) fn wire(id: &str) -> Box<str> {
    if is_legal(id) { id.into() } else { derived("s_", id).into() }
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_kept_where_they_can_be() {
        assert_eq!(&*super::wire("toolu_1-A"), "toolu_1-A");
        let made = super::wire("call:1");
        assert!(super::is_legal(&made) && made.len() == 28 && made == super::wire("call:1"));
        assert_ne!(made, super::wire("call:2"));
    }
}
