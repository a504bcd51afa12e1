//! The request as it stands on the wire (openai-checklist C1 to C7).

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, SeqAccess, Unexpected, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    object::object,
    values::{Stop, WireStreamOptions, collect},
};

object! {
    /// The whole body.
    Request<'a> {
        model: Box<str> = "model",
        prompt: Prompts = "prompt",
        suffix: String = "suffix",
        max_tokens: u64 = "max_tokens",
        n: u64 = "n",
        best_of: u64 = "best_of",
        temperature: f64 = "temperature",
        top_p: f64 = "top_p",
        top_k: i64 = "top_k",
        min_p: f64 = "min_p",
        presence_penalty: f64 = "presence_penalty",
        frequency_penalty: f64 = "frequency_penalty",
        seed: i64 = "seed",
        logprobs: u64 = "logprobs",
        echo: bool = "echo",
        logit_bias: &'a RawValue = "logit_bias",
        stop: Stop = "stop",
        stream: bool = "stream",
        stream_options: WireStreamOptions<'a> = "stream_options",
        user: Box<str> = "user",
    }
}

/// The most answers, and so the most prompts, of one request.
pub(super) const MAX_ANSWERS: usize = 2048;

/// The prompts of a request, all of one form.
#[derive(Debug)]
pub(super) enum Prompts {
    Texts(Vec<String>),
    Tokens(Vec<Vec<u32>>),
}

/// An entry of the list.
enum Entry {
    Text(String),
    Token(u32),
    Tokens(Vec<u32>),
}

impl<'de> Deserialize<'de> for Prompts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Prompts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an array of strings, of token ids or of arrays of token ids")
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Prompts::Texts(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                match seq.next_element()? {
                    None => Err(A::Error::custom("expected at least one prompt")),
                    Some(Entry::Text(text)) => prompts(seq, text).map(Prompts::Texts),
                    Some(Entry::Tokens(ids)) => prompts(seq, ids).map(Prompts::Tokens),
                    // One prompt, which may be as long as the body.
                    Some(Entry::Token(id)) => {
                        let mut ids = vec![id];
                        while let Some(id) = seq.next_element()? {
                            ids.push(id);
                        }
                        Ok(Prompts::Tokens(vec![ids]))
                    }
                }
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// The prompts of a list after the first, which are all of its form.
fn prompts<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(mut seq: A, first: T) -> Result<Vec<T>, A::Error> {
    let mut list = vec![first];
    while let Some(next) = seq.next_element()? {
        if list.len() == MAX_ANSWERS {
            return Err(A::Error::custom(format!("expected at most {MAX_ANSWERS} prompts")));
        }
        list.push(next);
    }
    Ok(list)
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Entry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, a token id or an array of token ids")
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Entry::Text(text.to_owned()))
            }

            fn visit_u64<E: Error>(self, id: u64) -> Result<Self::Value, E> {
                let id = u32::try_from(id).map_err(|_| E::invalid_value(Unexpected::Unsigned(id), &self))?;
                Ok(Entry::Token(id))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                let ids: Vec<u32> = collect(seq)?;
                if ids.is_empty() {
                    return Err(A::Error::custom("expected at least one token id"));
                }
                Ok(Entry::Tokens(ids))
            }
        }
        deserializer.deserialize_any(Either)
    }
}
