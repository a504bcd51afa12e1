//! The request as it stands on the wire (openai-checklist §3.1).

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    chat::object::object,
    values::{Stop, WireStreamOptions, collect},
};

object! {
    /// The whole body.
    Request<'a> {
        model: Box<str> = "model",
        messages: Vec<Message<'a>> = "messages",
        tools: Vec<Tool<'a>> = "tools",
        tool_choice: Choice<'a> = "tool_choice",
        parallel_tool_calls: bool = "parallel_tool_calls",
        functions: Vec<Function<'a>> = "functions",
        function_call: Choice<'a> = "function_call",
        temperature: f64 = "temperature",
        top_p: f64 = "top_p",
        top_k: i64 = "top_k",
        min_p: f64 = "min_p",
        presence_penalty: f64 = "presence_penalty",
        frequency_penalty: f64 = "frequency_penalty",
        seed: i64 = "seed",
        logit_bias: &'a RawValue = "logit_bias",
        stop: Stop = "stop",
        n: u64 = "n",
        logprobs: bool = "logprobs",
        top_logprobs: u64 = "top_logprobs",
        max_completion_tokens: u64 = "max_completion_tokens",
        max_tokens: u64 = "max_tokens",
        reasoning_effort: Box<str> = "reasoning_effort",
        verbosity: Box<str> = "verbosity",
        response_format: ResponseFormat<'a> = "response_format",
        stream: bool = "stream",
        stream_options: WireStreamOptions<'a> = "stream_options",
        store: bool = "store",
        metadata: Pairs = "metadata",
        safety_identifier: Box<str> = "safety_identifier",
        user: Box<str> = "user",
        prompt_cache_key: Box<str> = "prompt_cache_key",
        service_tier: Box<str> = "service_tier",
    }
}

object! {
    Message<'a> {
        role: Box<str> = "role",
        content: Content<'a> = "content",
        name: Box<str> = "name",
        refusal: String = "refusal",
        tool_calls: Vec<Call<'a>> = "tool_calls",
        tool_call_id: Box<str> = "tool_call_id",
        function_call: CalledFunction<'a> = "function_call",
        audio: AudioRef<'a> = "audio",
        reasoning_content: String = "reasoning_content",
        reasoning: String = "reasoning",
        reasoning_details: Vec<&'a RawValue> = "reasoning_details",
        annotations: &'a RawValue = "annotations",
    }
}

object! {
    Part<'a> {
        kind: Box<str> = "type",
        text: String = "text",
        refusal: String = "refusal",
        image_url: ImageUrl<'a> = "image_url",
        input_audio: InputAudio<'a> = "input_audio",
        file: File<'a> = "file",
        prompt_cache_breakpoint: Breakpoint<'a> = "prompt_cache_breakpoint",
    }
}

object! { ImageUrl<'a> { url: Box<str> = "url", detail: Box<str> = "detail", } }
object! { InputAudio<'a> { data: String = "data", format: Box<str> = "format", } }
object! {
    File<'a> { file_id: Box<str> = "file_id", file_data: Box<str> = "file_data", filename: Box<str> = "filename", }
}
object! { Breakpoint<'a> { mode: Box<str> = "mode", ttl: Box<str> = "ttl", } }
object! { AudioRef<'a> { id: Box<str> = "id", } }
object! {
    Call<'a> {
        id: Box<str> = "id",
        kind: Box<str> = "type",
        function: CalledFunction<'a> = "function",
        custom: CalledCustom<'a> = "custom",
    }
}
object! { CalledFunction<'a> { name: Box<str> = "name", arguments: String = "arguments", } }
object! { CalledCustom<'a> { name: Box<str> = "name", input: String = "input", } }
object! { Tool<'a> { kind: Box<str> = "type", function: Function<'a> = "function", custom: Custom<'a> = "custom", } }
object! {
    Function<'a> {
        name: Box<str> = "name",
        description: String = "description",
        parameters: &'a RawValue = "parameters",
        strict: bool = "strict",
    }
}
object! {
    Custom<'a> { name: Box<str> = "name", description: String = "description", format: Format<'a> = "format", }
}
object! { Format<'a> { kind: Box<str> = "type", grammar: Grammar<'a> = "grammar", } }
object! { Grammar<'a> { syntax: Box<str> = "syntax", definition: String = "definition", } }
object! { Named<'a> { name: Box<str> = "name", } }
object! {
    ChoiceObject<'a> {
        kind: Box<str> = "type",
        name: Box<str> = "name",
        function: Named<'a> = "function",
        custom: Named<'a> = "custom",
        allowed_tools: Allowed<'a> = "allowed_tools",
    }
}
object! { Allowed<'a> { mode: Box<str> = "mode", tools: Vec<ChoiceObject<'a>> = "tools", } }
object! { ResponseFormat<'a> { kind: Box<str> = "type", json_schema: JsonSchema<'a> = "json_schema", } }
object! {
    JsonSchema<'a> {
        name: Box<str> = "name",
        description: String = "description",
        schema: &'a RawValue = "schema",
        strict: bool = "strict",
    }
}
/// A message's content.
#[derive(Debug)]
pub(super) enum Content<'a> {
    Text(String),
    Parts(Vec<Part<'a>>),
}

impl<'de> Deserialize<'de> for Content<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Content<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an array of content parts")
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                collect(seq).map(Content::Parts)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// A choice of tool: a word or an object.
#[derive(Debug)]
pub(super) enum Choice<'a> {
    Mode(Box<str>),
    Object(Box<ChoiceObject<'a>>),
}

impl<'de> Deserialize<'de> for Choice<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Choice<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an object")
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Choice::Mode(text.into()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                ChoiceObject::read(map).map(|choice| Choice::Object(Box::new(choice)))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// Key-value pairs in their order.
#[derive(Debug)]
pub(super) struct Pairs(pub(super) Vec<(Box<str>, Box<str>)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of strings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Members)
    }
}
