//! Base64 (RFC 4648 section 4) as far as text documents need it.

/// The bytes behind the text; `None` where it is not base64.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=');
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 2);
    let (mut held, mut bits) = (0_u32, 0_u32);
    for byte in text.bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        held = (held << 6) | u32::from(six);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push(u8::try_from((held >> bits) & 0xff).unwrap_or_default());
            held &= (1 << bits) - 1;
        }
    }
    (bits < 6).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn whole_and_padded_groups() {
        for (text, bytes) in [
            ("", Some(&b""[..])),
            ("TWE=", Some(b"Ma")),
            ("TWFu", Some(b"Man")),
            ("TQ==", Some(b"M")),
            ("T", None),
            ("T*==", None),
        ] {
            assert_eq!(decode(text).as_deref(), bytes, "{text}");
        }
    }
}
