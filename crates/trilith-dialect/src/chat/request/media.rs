//! Media inside a request: data URLs and addresses.

use trilith_core::{Error, MediaSource};

use crate::chat::object::invalid;

/// A data URL's media type and base64 text; `None` for anything else.
pub(super) fn data_url(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:")).and_then(|_| {
        let rest = url.get(5..)?;
        rest.split_once(',')
    })?;
    let mime = head.strip_suffix(";base64")?;
    Some((mime, data))
}

/// Whether the text is base64 (RFC 4648 section 4) as far as its characters and its padding show.
pub(super) fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    text.len() - body.len() <= 2
        && body.len() % 4 != 1
        && !body.is_empty()
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

/// Where an image is: a data URL of an image type or an address.
pub(super) fn image(param: &str, url: &str) -> Result<MediaSource, Error> {
    if let Some((mime, data)) = data_url(url) {
        if !mime.starts_with("image/") || mime.contains(';') {
            let text = format!("Invalid '{param}': expected a data URL of an image type.");
            return Err(invalid(param, text).with_code("invalid_image_format"));
        }
        if !is_base64(data) {
            let text = format!("Invalid '{param}': the image's data is not base64.");
            return Err(invalid(param, text).with_code("invalid_base64_image"));
        }
        return Ok(MediaSource::Data { mime: Some(mime.into()), base64: data.into() });
    }
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    if scheme
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http"))
    {
        return Ok(MediaSource::Url(url.into()));
    }
    let text = format!("Invalid '{param}': expected an http or https address or a base64 data URL.");
    Err(invalid(param, text).with_code("invalid_image_url"))
}

/// A file's bytes: a data URL, or bare base64.
pub(super) fn file_data(param: &str, data: &str) -> Result<MediaSource, Error> {
    let (mime, base64) = match data_url(data) {
        Some((mime, base64)) => (Some(mime.into()), base64),
        None => (None, data),
    };
    if !is_base64(base64) {
        return Err(invalid(param, format!("Invalid '{param}': the file's data is not base64.")));
    }
    Ok(MediaSource::Data { mime, base64: base64.into() })
}
