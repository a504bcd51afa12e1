//! Checks of texts. No message repeats the text: it may be a credential or come from the environment.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use super::super::model::StoreUrl;
use super::super::preset::Preset;
use super::super::problem::Complaint;
use super::super::suggest::nearest;

type Verdict = Result<(), Complaint>;

fn refuse(message: &str, help: &str) -> Verdict {
    Err(Complaint::new(message, help))
}

/// Reads `ADDRESS:PORT`; `localhost` stands for 127.0.0.1.
pub(in super::super) fn parse_address(text: &str) -> Option<SocketAddr> {
    if let Some(port) = text.strip_prefix("localhost:") {
        return Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port.parse().ok()?));
    }
    text.parse().ok()
}

pub(in super::super) fn address(text: &str) -> Verdict {
    match parse_address(text) {
        Some(_) => Ok(()),
        None => refuse("is not an address with a port", "write \"127.0.0.1:8080\" or \"[::1]:8080\""),
    }
}

pub(in super::super) fn address_or_off(text: &str) -> Verdict {
    if text.is_empty() { Ok(()) } else { address(text) }
}

/// Reads a store URL.
pub(in super::super) fn parse_store(text: &str) -> Result<StoreUrl, Complaint> {
    // The second is how SQLite itself and other programs write it.
    if matches!(text, "memory:" | "sqlite::memory:" | "sqlite://:memory:") {
        return Ok(StoreUrl::Memory);
    }
    match text.strip_prefix("sqlite:") {
        Some(path) if !path.is_empty() && !path.contains(['\0', '?']) => {
            return Ok(StoreUrl::Sqlite(PathBuf::from(path.strip_prefix("//").unwrap_or(path))));
        }
        _ => {}
    }
    let message = if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        "PostgreSQL is not in this version"
    } else {
        "is not a store URL"
    };
    Err(Complaint::new(message, "write \"sqlite:PATH\" or \"memory:\""))
}

pub(in super::super) fn store(text: &str) -> Verdict {
    parse_store(text).map(|_| ())
}

pub(in super::super) fn text(text: &str) -> Verdict {
    if text.is_empty() { refuse("must not be empty", "") } else { Ok(()) }
}

pub(in super::super) fn path(text: &str) -> Verdict {
    if text.contains('\0') {
        return refuse("holds a NUL character", "");
    }
    self::text(text)
}

/// Names that appear in logs, metrics and ids.
pub(in super::super) fn name(text: &str) -> Verdict {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.is_empty() || text.len() > 64 || !text.chars().all(good) {
        return refuse("is not a name", "use 1 to 64 letters, digits, `-`, `_` and `.`");
    }
    Ok(())
}

/// Names of models, as upstreams choose them.
pub(in super::super) fn model_name(text: &str) -> Verdict {
    if text.contains('*') {
        return refuse("must be one name, without `*`", "");
    }
    pattern(text)
}

pub(in super::super) fn target_model(text: &str) -> Verdict {
    if text == "*" { Ok(()) } else { model_name(text) }
}

pub(in super::super) fn pattern(text: &str) -> Verdict {
    let help = "use a name, or a pattern in which `*` stands for any text";
    if text.is_empty() || text.len() > 256 {
        return refuse("must have 1 to 256 bytes", help);
    }
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return refuse("must not hold blanks or control characters", help);
    }
    if text.contains(['?', '[', ']', '^', '\\', '{', '}', '|']) {
        return refuse("only `*` has a special meaning; `?[]^\\{}|` are not part of a model's name", help);
    }
    if text.contains("**") {
        return refuse("holds `**`", "write one `*`");
    }
    if text.matches('*').count() > 8 {
        return refuse("has more than 8 `*`", help);
    }
    Ok(())
}

/// A host's name or address, or a pattern of names.
pub(in super::super) fn host_pattern(text: &str) -> Verdict {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '*' | ':');
    if text.contains("://") || text.contains('/') || !text.chars().all(good) {
        let help = "write a name such as \"cdn.example.com\", without scheme, port and path, and in ASCII";
        return refuse("is not a host", help);
    }
    pattern(text)
}

pub(in super::super) fn port(text: &str) -> Verdict {
    match text.parse::<u16>() {
        Ok(port) if port > 0 => Ok(()),
        _ => refuse("is not a port", "write a number from 1 to 65535 in quotes"),
    }
}

pub(in super::super) fn preset(text: &str) -> Verdict {
    if Preset::find(text).is_some() {
        return Ok(());
    }
    let known = || Preset::ALL.iter().map(|preset| preset.name);
    let list = known().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let help = match nearest(text, known()) {
        Some(name) => format!("did you mean \"{name}\"? known are {list}"),
        None => format!(
            "known are {list}; for another place leave `preset` out and give `dialect` and `base_url`"
        ),
    };
    refuse("is not a known place", &help)
}

fn url(text: &str, schemes: &[&str]) -> Result<http::Uri, Complaint> {
    let schemes_text = schemes.join(":// or ");
    let help = format!("write {schemes_text}://HOST[:PORT][/PATH]");
    let bad = |message: &str| Complaint::new(message, help.clone());
    let uri: http::Uri = text.parse().map_err(|_| bad("is not a URL"))?;
    match uri.scheme_str() {
        Some(scheme) if schemes.contains(&scheme) => {}
        Some(_) => return Err(bad("has another scheme than is used here")),
        None => return Err(bad("has no scheme")),
    }
    if uri.host().is_none_or(str::is_empty) {
        return Err(bad("has no host"));
    }
    let authority = uri.authority().map_or("", http::uri::Authority::as_str);
    let after_host = authority.rsplit_once(['@', ']']).map_or(authority, |(_, rest)| rest);
    if after_host.contains(':') && uri.port_u16().is_none() {
        return Err(bad("has a bad port"));
    }
    if text.contains(['?', '#']) {
        return Err(bad("must not hold `?` or `#`"));
    }
    Ok(uri)
}

pub(in super::super) fn base_url(text: &str) -> Verdict {
    let uri = url(text, &["http", "https"])?;
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return refuse("holds a credential", "put it in `api_key` or `headers`");
    }
    Ok(())
}

pub(in super::super) fn proxy(text: &str) -> Verdict {
    let uri = url(text, &["http"])?;
    if uri.path().len() > 1 {
        return refuse("must not hold a path", "write http://HOST:PORT");
    }
    Ok(())
}

pub(in super::super) fn url_path(text: &str) -> Verdict {
    let good = |c: char| c.is_ascii_graphic() && !matches!(c, '#' | '"' | '<' | '>' | '\\' | '{' | '}');
    if text.starts_with('/') && text.chars().all(good) {
        return Ok(());
    }
    refuse("is not a URL path", "start it with `/`, without blanks and `#`")
}

pub(in super::super) fn header_value(text: &str) -> Verdict {
    if text.is_empty() {
        return refuse("must not be empty", "leave the key out when there is none");
    }
    if text.trim() != text || !text.chars().all(|c| c == ' ' || c.is_ascii_graphic()) {
        return refuse("cannot be sent in a header", "use printable ASCII without blanks at the ends");
    }
    Ok(())
}

/// Headers that the client connection sets itself.
const OWN_HEADERS: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "host",
    "keep-alive",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

pub(in super::super) fn header_name(text: &str) -> Verdict {
    if text.parse::<http::HeaderName>().is_err() {
        return refuse("is not the name of a header", "use letters, digits and `-`");
    }
    if OWN_HEADERS.contains(&text.to_ascii_lowercase().as_str()) {
        return refuse("is set by Trilith itself", "leave it out");
    }
    Ok(())
}

/// Top-level request fields without which a request is none.
const NEEDED_FIELDS: &[&str] = &["model", "messages", "input", "prompt", "stream"];

pub(in super::super) fn field(text: &str) -> Verdict {
    if text.is_empty() || text.len() > 64 || !text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return refuse("is not the name of a request field", "use a top-level name such as \"store\"");
    }
    if NEEDED_FIELDS.contains(&text) {
        return refuse("cannot be dropped", "a request needs it");
    }
    Ok(())
}

/// A word of the scale of reasoning efforts.
pub(in super::super) fn effort(text: &str) -> Verdict {
    if trilith_core::Effort::parse(text).is_none() {
        return refuse("is no effort", "use none, minimal, low, medium, high, xhigh or max");
    }
    Ok(())
}

/// A media type of images.
pub(in super::super) fn image_type(text: &str) -> Verdict {
    match text.strip_prefix("image/") {
        Some(kind) if !kind.is_empty() && text.len() <= 64 => Ok(()),
        _ => refuse("is no type of images", "write it as \"image/png\""),
    }
}

/// Reads `sha256:` and 64 hexadecimal digits.
pub(in super::super) fn parse_hash(text: &str) -> Option<[u8; 32]> {
    let digits = text.strip_prefix("sha256:")?.as_bytes();
    let mut hash = [0; 32];
    let (pairs, odd) = digits.as_chunks::<2>();
    if pairs.len() != hash.len() || !odd.is_empty() {
        return None;
    }
    for (byte, [high, low]) in hash.iter_mut().zip(pairs) {
        let digit = |c: u8| char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(hash)
}

pub(in super::super) fn key_hash(text: &str) -> Verdict {
    match parse_hash(text) {
        Some(_) => Ok(()),
        None => refuse(
            "is not `sha256:` and 64 hexadecimal digits",
            "`printf %s KEY | sha256sum` prints the digits; a key in plain text goes in `key`",
        ),
    }
}
