//! The request as it stands on the wire. Blocks and tools stay raw here, since each is read by its own type.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::object::object;

object! {
    /// The whole body.
    Request<'a> {
        model: Box<str> = "model",
        max_tokens: u64 = "max_tokens",
        messages: Vec<Message<'a>> = "messages",
        system: Content<'a> = "system",
        tools: Vec<&'a RawValue> = "tools",
        tool_choice: Choice<'a> = "tool_choice",
        thinking: &'a RawValue = "thinking",
        output_config: OutputConfig<'a> = "output_config",
        output_format: Format<'a> = "output_format",
        stop_sequences: Vec<Box<str>> = "stop_sequences",
        temperature: f64 = "temperature",
        top_p: f64 = "top_p",
        top_k: u32 = "top_k",
        metadata: Metadata<'a> = "metadata",
        service_tier: Box<str> = "service_tier",
        stream: bool = "stream",
        thread: &'a RawValue = "thread",
    }
}

object! { Message<'a> { role: Box<str> = "role", content: Content<'a> = "content", } }
object! {
    Choice<'a> {
        kind: Box<str> = "type",
        name: Box<str> = "name",
        disable_parallel_tool_use: bool = "disable_parallel_tool_use",
    }
}
object! {
    ThinkingConfig<'a> {
        kind: Box<str> = "type",
        budget_tokens: u64 = "budget_tokens",
        display: Box<str> = "display",
    }
}
object! { OutputConfig<'a> { effort: Box<str> = "effort", format: Format<'a> = "format", } }
object! { Format<'a> { kind: Box<str> = "type", schema: &'a RawValue = "schema", } }
object! { Metadata<'a> { user_id: Box<str> = "user_id", } }
object! { Mark<'a> { kind: Box<str> = "type", ttl: Box<str> = "ttl", } }
object! { Kind<'a> { kind: Box<str> = "type", } }
object! {
    Tool<'a> {
        kind: Box<str> = "type",
        name: Box<str> = "name",
        description: String = "description",
        input_schema: &'a RawValue = "input_schema",
        strict: bool = "strict",
        defer_loading: bool = "defer_loading",
        cache_control: &'a RawValue = "cache_control",
    }
}
object! {
    WebSearch<'a> {
        allowed_domains: &'a RawValue = "allowed_domains",
        blocked_domains: &'a RawValue = "blocked_domains",
        user_location: &'a RawValue = "user_location",
    }
}
object! {
    TextBlock<'a> {
        kind: Box<str> = "type",
        text: String = "text",
        citations: Vec<&'a RawValue> = "citations",
        cache_control: &'a RawValue = "cache_control",
    }
}
object! {
    Media<'a> {
        kind: Box<str> = "type",
        source: &'a RawValue = "source",
        title: Box<str> = "title",
        cache_control: &'a RawValue = "cache_control",
    }
}
object! {
    Reference<'a> {
        kind: Box<str> = "type",
        tool_name: Box<str> = "tool_name",
        cache_control: &'a RawValue = "cache_control",
    }
}
object! { Marked<'a> { kind: Box<str> = "type", cache_control: &'a RawValue = "cache_control", } }
object! {
    Source<'a> {
        kind: Box<str> = "type",
        media_type: Box<str> = "media_type",
        data: Box<str> = "data",
        url: Box<str> = "url",
        file_id: Box<str> = "file_id",
        content: Content<'a> = "content",
    }
}
object! { Thought<'a> { kind: Box<str> = "type", thinking: String = "thinking", signature: Box<str> = "signature", } }
object! { Redacted<'a> { kind: Box<str> = "type", data: Box<str> = "data", } }
object! {
    ToolUse<'a> {
        kind: Box<str> = "type",
        id: Box<str> = "id",
        name: Box<str> = "name",
        input: &'a RawValue = "input",
    }
}
object! {
    ToolResult<'a> {
        kind: Box<str> = "type",
        tool_use_id: Box<str> = "tool_use_id",
        content: Content<'a> = "content",
        is_error: bool = "is_error",
    }
}

/// A content: one string, or blocks.
#[derive(Debug)]
pub(super) enum Content<'a> {
    Text(String),
    Blocks(Vec<&'a RawValue>),
}

impl<'de> Deserialize<'de> for Content<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Content<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an array of content blocks")
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(value) = seq.next_element()? {
                    list.push(value);
                }
                Ok(Content::Blocks(list))
            }
        }
        deserializer.deserialize_any(Either)
    }
}
