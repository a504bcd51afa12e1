//! Short names derived from long or illegal ones: the same for the same text, in every run and version.

/// `prefix` and 26 characters of base32: the 128 bits of FNV-1a, which is short, stable and no secret.
pub(crate) fn derived(prefix: &str, text: &str) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let hash = text.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, |hash, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    });
    let mut out = String::from(prefix);
    for shift in (0..26).map(|digit| digit * 5) {
        let digit = usize::try_from((hash >> shift) & 31).unwrap_or_default();
        out.push(char::from(LETTERS.get(digit).copied().unwrap_or(b'a')));
    }
    out
}
