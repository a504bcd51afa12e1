//! The query of an address.

use http::Uri;

use crate::percent;

/// Its names and values, with their percent signs undone; what is no text is left out.
pub(crate) fn pairs(uri: &Uri) -> Vec<(String, String)> {
    let pairs = uri.query().into_iter().flat_map(|query| query.split('&')).filter(|pair| !pair.is_empty());
    pairs
        .filter_map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((percent::decode(name, true)?, percent::decode(value, true)?))
        })
        .collect()
}

/// The first value of that name.
pub(crate) fn value(uri: &Uri, name: &str) -> Option<String> {
    pairs(uri).into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests;
