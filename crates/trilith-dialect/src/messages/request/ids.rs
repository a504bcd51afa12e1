//! Ids of calls, which this wire holds to few characters.

/// Whether the wire takes the id as it is.
pub(super) fn is_legal(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// An id that the wire takes, the same for the same id (translation contract §6).
pub(super) fn wire(id: &str) -> Box<str> {
    if is_legal(id) { id.into() } else { derived(id) }
}

/// `s_` and 26 characters of base32: the 128 bits of FNV-1a, which is short, stable and no secret.
fn derived(id: &str) -> Box<str> {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let hash = id.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, |hash, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    });
    let mut out = String::from("s_");
    for shift in (0..26).map(|digit| digit * 5) {
        let digit = usize::try_from((hash >> shift) & 31).unwrap_or_default();
        out.push(char::from(LETTERS.get(digit).copied().unwrap_or(b'a')));
    }
    out.into()
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
