//! Call ids toward an upstream that takes fewer than callers use (translation contract §6).

use std::borrow::Cow;

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
    // FNV-1a over 128 bits: short, stable across runs and versions. Only one history's ids meet each other.
    let mut hash = id.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, |hash, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    });
    let mut derived = String::from("s_");
    for _ in 0..26 {
        const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
        let digit = usize::try_from(hash & 31).unwrap_or_default();
        derived.push(char::from(DIGITS.get(digit).copied().unwrap_or(b'a')));
        hash >>= 5;
    }
    Cow::Owned(derived)
}
