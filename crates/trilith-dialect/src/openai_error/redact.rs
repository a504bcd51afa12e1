//! Makes an upstream's text fit for a caller: no keys, no addresses of Trilith's network.

/// Longest text that is passed on, in characters.
const LONGEST: usize = 2000;

/// Texts that stay although they are addresses: documentation that error messages point to.
const KNOWN_HOSTS: [&str; 3] = ["platform.openai.com", "help.openai.com", "developers.openai.com"];

/// The text with what looks like a key, a token or an address replaced.
pub(crate) fn redact(text: &str) -> String {
    let text: String = text.chars().take(LONGEST).collect();
    let mut out = String::with_capacity(text.len());
    let mut after_bearer = false;
    for piece in text.split_inclusive(|c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')' | ',' | '<' | '>')
    }) {
        let end = piece.char_indices().next_back().map_or(0, |(at, c)| {
            if c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')' | ',' | '<' | '>') {
                at
            } else {
                piece.len()
            }
        });
        let (word, gap) = piece.split_at(end);
        if word.is_empty() {
            out.push_str(gap);
            continue;
        }
        match (after_bearer, replacement(word)) {
            (true, _) => out.push_str("[redacted]"),
            (false, Some(instead)) => out.push_str(instead),
            (false, None) => out.push_str(word),
        }
        out.push_str(gap);
        after_bearer = word.eq_ignore_ascii_case("bearer");
    }
    out.trim().to_owned()
}

fn replacement(word: &str) -> Option<&'static str> {
    if let Some((scheme, rest)) = word.split_once("://") {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let known = scheme == "https" && KNOWN_HOSTS.contains(&host);
        return (!known).then_some("[address]");
    }
    if is_key(word) {
        return Some("[redacted]");
    }
    is_host(word).then_some("[address]")
}

fn is_key(word: &str) -> bool {
    ["sk-", "key-", "gsk_", "xai-", "AIza", "hf_", "tl1."].iter().any(|prefix| {
        word.find(prefix).is_some_and(|at| {
            // The prefix opens a word: what stands before it is no part of a name.
            let opens =
                word.get(..at).and_then(|head| head.chars().next_back()).is_none_or(|c| !c.is_alphanumeric());
            let rest = word.get(at + prefix.len()..).unwrap_or_default();
            if opens && *prefix == "sk-" && rest.len() >= 3 {
                return true;
            }
            opens
                && rest.len() >= 8
                && rest.chars().any(|c| c.is_ascii_digit() || c.is_ascii_uppercase() || c == '*')
        })
    })
}

/// An IP address, with or without a port, or a name that only a private network knows.
fn is_host(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ':', ';']);
    let (host, port) = word.rsplit_once(':').map_or((word, None), |(host, port)| (host, Some(port)));
    let host = host.split('/').next().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let private = [".internal", ".local", ".lan", ".svc", ".cluster.local", ".corp", ".intranet"];
    let numeric_port =
        port.is_some_and(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()));
    host.parse::<core::net::IpAddr>().is_ok()
        || (word.contains("::") && word.parse::<core::net::IpAddr>().is_ok())
        || private.iter().any(|suffix| host.len() > suffix.len() && host.ends_with(suffix))
        || (host == "localhost" && numeric_port)
        || (numeric_port
            && host.contains('.')
            && host.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'-'))
}
