//! Log-probabilities, both ways (openai-checklist C10). The wire has a list for each property of a token, and shows
//! the alternatives of a token as an object: of two that are spelled alike only the likelier one has a place.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;
use trilith_core::{Logprob, TopLogprob};

use crate::{
    json::{Object, float, int},
    logprobs,
    loose::Text,
    scan::write_string,
};

/// How the wire spells a token that is no text by itself: its bytes in hexadecimal, each after `\\x`.
const BYTES: &str = "bytes:";
/// How vLLM spells a token on request, which says nothing about its bytes.
const TOKEN_ID: &str = "token_id:";
/// A probability that is not told: the wire has `null` for it.
const UNTOLD: f64 = f64::NEG_INFINITY;

#[derive(Deserialize)]
struct Lists {
    #[serde(default)]
    tokens: Option<Vec<Text>>,
    #[serde(default)]
    token_logprobs: Option<Vec<Option<f64>>>,
    #[serde(default)]
    top_logprobs: Option<Vec<Option<Alternatives>>>,
}

/// The alternatives of a token in their order.
struct Alternatives(Vec<(String, Option<f64>)>);

impl<'de> Deserialize<'de> for Alternatives {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Alternatives;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of log-probabilities")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    list.push(entry);
                }
                Ok(Alternatives(list))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// The tokens of a choice; what cannot be read is none. llama.cpp writes them as Chat Completions does.
pub(in crate::completions) fn read(raw: &RawValue) -> Vec<Logprob> {
    let lists = serde_json::from_str::<Lists>(raw.get()).ok();
    let Some((lists, tokens)) = lists.and_then(|mut lists| lists.tokens.take().map(|tokens| (lists, tokens)))
    else {
        return logprobs::logprobs(raw).0;
    };
    let mut told = lists.token_logprobs.unwrap_or_default().into_iter();
    let mut top = lists.top_logprobs.unwrap_or_default().into_iter();
    let read = |text: Text| {
        let alternatives = top.next().flatten().map(|list| list.0).unwrap_or_default();
        Logprob {
            chosen: token(text.0.unwrap_or_default(), told.next().flatten()),
            top: alternatives.into_iter().map(|(text, told)| token(text, told)).collect(),
        }
    };
    tokens.into_iter().map(read).collect()
}

fn token(text: String, told: Option<f64>) -> TopLogprob {
    let bytes = match text.strip_prefix(BYTES) {
        Some(digits) => unescaped(digits),
        None if text.starts_with(TOKEN_ID) => None,
        None => Some(text.as_bytes().to_vec()),
    };
    TopLogprob { token: text.into(), logprob: told.unwrap_or(UNTOLD), bytes }
}

/// The bytes of `\\xe2\\x80`.
fn unescaped(digits: &str) -> Option<Vec<u8>> {
    let parts = digits.strip_prefix("\\x")?.split("\\x");
    parts.map(|pair| (pair.len() == 2).then(|| u8::from_str_radix(pair, 16).ok()).flatten()).collect()
}

/// The token as this wire spells it.
fn spelled(token: &TopLogprob) -> std::borrow::Cow<'_, str> {
    use std::fmt::Write as _;
    let text = &*token.token;
    let own = text.starts_with(BYTES) || text.starts_with(TOKEN_ID);
    match &token.bytes {
        Some(bytes) if !own && bytes != text.as_bytes() => {
            let mut out = BYTES.to_owned();
            for byte in bytes {
                // Writing to memory cannot fail.
                write!(out, "\\x{byte:02x}").ok();
            }
            out.into()
        }
        _ => text.into(),
    }
}

/// How many characters begin in a token. Of one that several tokens make together, the first counts.
fn characters(token: &TopLogprob) -> usize {
    let bytes = token.bytes.as_deref().unwrap_or(token.token.as_bytes());
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

/// Appends the tokens of a text whose first one stands at character `at`, and gives where the next one stands.
pub(in crate::completions) fn write<'l>(
    list: impl Iterator<Item = &'l Logprob> + Clone,
    at: usize,
    out: &mut Vec<u8>,
) -> usize {
    let mut object = Object::new(out);
    let mut tokens = object.list("tokens");
    list.clone().for_each(|logprob| write_string(tokens.item(), &spelled(&logprob.chosen)));
    tokens.end();
    let mut told = object.list("token_logprobs");
    list.clone().for_each(|logprob| float(told.item(), logprob.chosen.logprob));
    told.end();
    if list.clone().all(|logprob| logprob.top.is_empty()) {
        object.null("top_logprobs");
    } else {
        let mut top = object.list("top_logprobs");
        list.clone().for_each(|logprob| write_alternatives(&logprob.top, top.item()));
        top.end();
    }
    let mut place = at;
    let mut offsets = object.list("text_offset");
    for logprob in list {
        int(offsets.item(), place);
        place = place.saturating_add(characters(&logprob.chosen));
    }
    offsets.end();
    object.end();
    place
}

fn write_alternatives(top: &[TopLogprob], out: &mut Vec<u8>) {
    if top.is_empty() {
        out.extend_from_slice(b"null");
        return;
    }
    let mut object = Object::new(out);
    for (place, token) in top.iter().enumerate() {
        if !is_repeated(top, place) {
            float(object.key(&spelled(token)), token.logprob);
        }
    }
    object.end();
}

/// Whether a likelier alternative is spelled like this one.
fn is_repeated(top: &[TopLogprob], place: usize) -> bool {
    let Some(token) = top.get(place) else { return false };
    top.get(..place).unwrap_or_default().iter().any(|other| spelled(other) == spelled(token))
}

/// How many alternatives have no place since a likelier one is spelled alike.
pub(in crate::completions) fn repeated(list: &[Logprob]) -> usize {
    let of =
        |logprob: &Logprob| (0..logprob.top.len()).filter(|place| is_repeated(&logprob.top, *place)).count();
    list.iter().map(of).sum()
}
