//! Log-probabilities as Chat Completions writes them, both ways (openai-checklist H25).

use serde::Deserialize;
use serde_json::value::RawValue;
use trilith_core::{Logprob, TopLogprob};

use crate::{
    json::{List, Object, float, int},
    loose::Text,
};

#[derive(Deserialize)]
struct WireLogprobs {
    content: Option<Vec<WireLogprob>>,
    refusal: Option<Vec<WireLogprob>>,
}

#[derive(Deserialize)]
struct WireLogprob {
    #[serde(default)]
    token: Text,
    logprob: Option<f64>,
    bytes: Option<Vec<u8>>,
    top_logprobs: Option<Vec<WireLogprob>>,
}

/// The tokens of the content, and of a refusal.
pub(crate) fn logprobs(raw: &RawValue) -> (Vec<Logprob>, Vec<Logprob>) {
    let Ok(wire) = serde_json::from_str::<WireLogprobs>(raw.get()) else { return Default::default() };
    let all = |list: Option<Vec<WireLogprob>>| list.unwrap_or_default().into_iter().map(logprob).collect();
    (all(wire.content), all(wire.refusal))
}

fn logprob(mut wire: WireLogprob) -> Logprob {
    let top = wire.top_logprobs.take().unwrap_or_default();
    Logprob { chosen: token(wire), top: top.into_iter().map(token).collect() }
}

fn token(wire: WireLogprob) -> TopLogprob {
    TopLogprob {
        token: wire.token.0.unwrap_or_default().into(),
        logprob: wire.logprob.unwrap_or(f64::MIN),
        bytes: wire.bytes,
    }
}

/// Appends a list of tokens.
pub(crate) fn write_logprobs<'l>(logprobs: impl IntoIterator<Item = &'l Logprob>, out: &mut Vec<u8>) {
    let mut list = List::new(out);
    for logprob in logprobs {
        let mut object = list.object();
        write_token(&logprob.chosen, &mut object);
        let mut top = object.list("top_logprobs");
        for token in &logprob.top {
            let mut object = top.object();
            write_token(token, &mut object);
            object.end();
        }
        top.end();
        object.end();
    }
    list.end();
}

fn write_token(token: &TopLogprob, out: &mut Object<'_>) {
    out.string("token", &token.token);
    float(out.key("logprob"), token.logprob);
    match &token.bytes {
        None => out.null("bytes"),
        Some(bytes) => {
            let mut list = out.list("bytes");
            for byte in bytes {
                int(list.item(), *byte);
            }
            list.end();
        }
    }
}
