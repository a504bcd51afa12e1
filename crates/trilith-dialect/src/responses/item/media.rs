//! Addresses of media: inline data as data URLs (RFC 2397), or a place to fetch from.

use std::borrow::Cow;

use trilith_core::MediaSource;

/// Why an inline address cannot be used.
pub(super) const BAD_DATA: &str = "expected base64 data, as in data:image/png;base64,…";

/// The source an address stands for; `None` when inline data is not base64.
pub(super) fn source_of(address: &str) -> Option<MediaSource> {
    let Some(rest) = strip_data(address) else { return Some(MediaSource::Url(address.into())) };
    let (head, data) = rest.split_once(',')?;
    let mime = head.strip_suffix(";base64").or_else(|| head.strip_suffix(";BASE64"))?;
    if data.is_empty() || !is_base64(data) {
        return None;
    }
    let mime = (!mime.is_empty()).then(|| mime.into());
    Some(MediaSource::Data { mime, base64: data.into() })
}

fn strip_data(address: &str) -> Option<&str> {
    let (scheme, rest) = address.split_at_checked(5)?;
    scheme.eq_ignore_ascii_case("data:").then_some(rest)
}

/// Whether the text is base64 (RFC 4648 section 4) as far as its characters and its padding show.
pub(super) fn is_base64(data: &str) -> bool {
    let body = data.trim_end_matches('=');
    data.len() - body.len() <= 2
        && body.len() % 4 != 1
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

/// Inline data as a data URL, or the address; `None` for a file id.
pub(super) fn address_of<'s>(source: &'s MediaSource, fallback: &str) -> Option<Cow<'s, str>> {
    match source {
        MediaSource::Data { mime, base64 } => {
            Some(format!("data:{};base64,{base64}", mime.as_deref().unwrap_or(fallback)).into())
        }
        MediaSource::Url(url) => Some(Cow::Borrowed(url)),
        MediaSource::FileId(_) => None,
    }
}
