//! The answer as upstreams send it, whole and in chunks. Everything is optional: servers leave out what they
//! please, and a field nobody needs must not break an answer.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use trilith_core::Begin;

pub(in crate::chat) use crate::loose::{Number, Text};
use crate::{choices::About, openai_usage::WireUsage, typed};

/// A chunk or a whole body. What every chunk repeats stays unread after the first.
#[derive(Debug, Deserialize)]
pub(in crate::chat) struct Answer<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    created: Option<&'a RawValue>,
    #[serde(borrow)]
    service_tier: Option<&'a RawValue>,
    #[serde(borrow)]
    system_fingerprint: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(in crate::chat) choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow)]
    pub(in crate::chat) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::chat) x_groq: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::chat) moderation: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::chat) error: Option<&'a RawValue>,
}

impl Answer<'_> {
    /// Learns what the answer says about itself; what is absent or empty leaves what is known.
    pub(in crate::chat) fn introduce(&self, begin: &mut Begin) {
        let Self { id, model, created, service_tier, system_fingerprint, .. } = *self;
        About { id, model, created, service_tier, system_fingerprint }.introduce(begin);
    }

    /// The counts, from the usual place or from Groq's.
    pub(in crate::chat) fn counts(&self) -> Option<WireUsage> {
        #[derive(Deserialize)]
        struct Groq {
            usage: Option<WireUsage>,
        }
        if let Some(raw) = self.usage {
            return typed::from_str(raw.get()).ok();
        }
        serde_json::from_str::<Groq>(self.x_groq?.get()).ok()?.usage
    }
}

/// One of the answers.
#[derive(Debug, Default, Deserialize)]
pub(in crate::chat) struct Choice<'a> {
    #[serde(default)]
    pub(in crate::chat) index: Number,
    #[serde(borrow)]
    pub(in crate::chat) delta: Option<Delta<'a>>,
    #[serde(borrow)]
    pub(in crate::chat) message: Option<Delta<'a>>,
    #[serde(borrow)]
    pub(in crate::chat) logprobs: Option<&'a RawValue>,
    #[serde(default)]
    pub(in crate::chat) finish_reason: Text,
    /// The stop string that matched (vLLM).
    #[serde(default)]
    pub(in crate::chat) stop_reason: Text,
}

/// A message, or a piece of it.
#[derive(Debug, Default, Deserialize)]
pub(in crate::chat) struct Delta<'a> {
    pub(in crate::chat) content: Option<Content>,
    #[serde(default)]
    pub(in crate::chat) refusal: Text,
    #[serde(default)]
    pub(in crate::chat) reasoning_content: Text,
    #[serde(default)]
    pub(in crate::chat) reasoning: Text,
    #[serde(borrow)]
    pub(in crate::chat) reasoning_details: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    pub(in crate::chat) tool_calls: Option<Vec<CallDelta<'a>>>,
    #[serde(borrow)]
    pub(in crate::chat) function_call: Option<Called<'a>>,
    #[serde(borrow)]
    pub(in crate::chat) annotations: Option<&'a RawValue>,
    pub(in crate::chat) audio: Option<AudioDelta>,
    pub(in crate::chat) images: Option<IgnoredAny>,
}

impl Delta<'_> {
    /// Whether there is nothing but text that is said or thought.
    pub(in crate::chat) fn is_text_alone(&self) -> bool {
        let Self {
            content: _,
            refusal,
            reasoning_content: _,
            reasoning,
            reasoning_details,
            tool_calls,
            function_call,
            annotations,
            audio,
            images,
        } = self;
        refusal.0.is_none()
            && reasoning.0.is_none()
            && reasoning_details.is_none()
            && tool_calls.is_none()
            && function_call.is_none()
            && annotations.is_none()
            && audio.is_none()
            && images.is_none()
    }
}

#[derive(Debug, Default, Deserialize)]
pub(in crate::chat) struct CallDelta<'a> {
    #[serde(default)]
    pub(in crate::chat) index: Number,
    #[serde(default)]
    pub(in crate::chat) id: Text,
    #[serde(default, rename = "type")]
    pub(in crate::chat) kind: Text,
    #[serde(borrow)]
    pub(in crate::chat) function: Option<Called<'a>>,
    #[serde(borrow)]
    pub(in crate::chat) custom: Option<Called<'a>>,
    #[serde(borrow)]
    pub(in crate::chat) extra_content: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
pub(in crate::chat) struct Called<'a> {
    #[serde(default)]
    pub(in crate::chat) name: Text,
    /// A string, or the object that it should have held.
    #[serde(borrow)]
    pub(in crate::chat) arguments: Option<&'a RawValue>,
    #[serde(default)]
    pub(in crate::chat) input: Text,
}

impl Called<'_> {
    /// The argument text.
    pub(in crate::chat) fn text(&self) -> Option<Cow<'_, str>> {
        match self.arguments {
            Some(raw) if raw.get().starts_with('"') => typed::from_str(raw.get()).ok().map(Cow::Owned),
            Some(raw) => Some(Cow::Borrowed(raw.get())),
            None => self.input.0.as_deref().map(Cow::Borrowed),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
pub(in crate::chat) struct AudioDelta {
    #[serde(default)]
    pub(in crate::chat) id: Text,
    #[serde(default)]
    pub(in crate::chat) data: Text,
    #[serde(default)]
    pub(in crate::chat) transcript: Text,
    #[serde(default)]
    pub(in crate::chat) expires_at: Number,
}

/// Content: a string, or Mistral's list of chunks.
#[derive(Debug)]
pub(in crate::chat) enum Content {
    Text(String),
    Chunks(Vec<ContentChunk>),
}

/// One chunk of a list.
#[derive(Debug, Deserialize)]
pub(in crate::chat) struct ContentChunk {
    #[serde(default, rename = "type")]
    pub(in crate::chat) kind: Text,
    #[serde(default)]
    pub(in crate::chat) text: Text,
    #[serde(default)]
    pub(in crate::chat) refusal: Text,
    /// A string or a list of text chunks.
    pub(in crate::chat) thinking: Option<Content>,
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of chunks")
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut chunks = Vec::new();
                while let Some(chunk) = seq.next_element()? {
                    chunks.push(chunk);
                }
                Ok(Content::Chunks(chunks))
            }
        }
        deserializer.deserialize_any(Either)
    }
}
