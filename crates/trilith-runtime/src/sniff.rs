//! What bytes are, by how they begin.

pub(crate) const PDF: &str = "application/pdf";
/// How base64 begins where the bytes begin as a PDF does.
pub(crate) const PDF_IN_BASE64: &str = "JVBERi";
/// Readers of PDF look for its mark within so many bytes (ISO 32000-1, annex H, note 13).
const PDF_WITHIN: usize = 1024;

/// The media type of fetched content, if it is of a kind that models take: as its first bytes tell, and for text as
/// its server declares.
pub(crate) fn media_type(declared: Option<&str>, bytes: &[u8], is_image: bool) -> Option<Box<str>> {
    if let Some(image) = image(bytes) {
        return Some(image.into());
    }
    if is_image {
        return None;
    }
    let head = bytes.get(..PDF_WITHIN).unwrap_or(bytes);
    if head.windows(5).any(|window| window == b"%PDF-") {
        return Some(PDF.into());
    }
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))?;
    let declared = declared
        .map(str::to_ascii_lowercase)
        .filter(|mime| mime.starts_with("text/") || mime == "application/json");
    (!text.is_empty()).then(|| declared.map_or_else(|| "text/plain".into(), Into::into))
}

fn image(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}
