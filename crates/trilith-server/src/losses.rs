//! What could not be carried, where a caller reads it: response headers, and a report by request id
//! (translation contract §0).

use http::{HeaderMap, HeaderValue};
use trilith_core::{Disposition, Loss};
use trilith_dialect::Dialect;

const HEADER: &str = "x-trilith-warning";
/// At most this many headers, and this many bytes in all.
const MOST: usize = 16;
const MOST_BYTES: usize = 4 << 10;

/// Says what was dropped or approximated, in headers; the rest is counted.
pub(crate) fn add_headers(headers: &mut HeaderMap, losses: &[Loss]) {
    let mut bytes = 0;
    let mut said = 0;
    let warned = || losses.iter().filter(|loss| loss.disposition == Disposition::Warn);
    for loss in warned().take(MOST - 1) {
        let text = ascii(&format!("{}; {}", loss.path, loss.why));
        bytes += text.len();
        if bytes > MOST_BYTES {
            break;
        }
        if let Ok(value) = HeaderValue::try_from(text) {
            headers.append(HEADER, value);
            said += 1;
        }
    }
    let more = warned().count() - said;
    if more > 0
        && let Ok(value) = HeaderValue::try_from(format!("+{more} more"))
    {
        headers.append(HEADER, value);
    }
}

/// The losses with paths as clients of the dialect know them.
pub(crate) fn spelled(client: Option<&'static dyn Dialect>, losses: &[Loss]) -> Vec<Loss> {
    let mut losses = losses.to_vec();
    if let Some(client) = client {
        for loss in &mut losses {
            loss.path = client.respell(&loss.path).into();
        }
    }
    losses
}

/// Printable ASCII; everything else as `\u{…}`.
pub(crate) fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, ' '..='~') {
            out.push(c);
        } else {
            out.extend(c.escape_unicode());
        }
    }
    out
}
