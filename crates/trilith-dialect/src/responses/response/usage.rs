//! Token counts, both directions. This wire's input counts include cached tokens, its output counts include
//! reasoning, as the vocabulary's do.

use trilith_core::{CacheWrite, Usage};

use crate::{responses::object::Object, tape::Value};

/// `usage` of a response object. Missing counts are zero.
pub(in crate::responses) fn decode_usage(value: Value<'_>) -> Usage {
    let count =
        |outer: Option<Value<'_>>, name: &str| outer.and_then(|outer| outer.get(name)).and_then(Value::u64);
    let input = value.get("input_tokens_details");
    let output = value.get("output_tokens_details");
    Usage {
        input_total: count(Some(value), "input_tokens").unwrap_or(0),
        cache_read: count(input, "cached_tokens").unwrap_or(0),
        cache_write: CacheWrite {
            m30: count(input, "cache_write_tokens").unwrap_or(0),
            ..CacheWrite::default()
        },
        output_total: count(Some(value), "output_tokens").unwrap_or(0),
        reasoning: count(output, "reasoning_tokens").unwrap_or(0),
        input_audio: count(input, "audio_tokens"),
        output_audio: count(output, "audio_tokens"),
        accepted_prediction: None,
        rejected_prediction: None,
        estimated: false,
    }
}

pub(super) fn write_usage(out: &mut Vec<u8>, usage: &Usage) {
    let mut object = Object::open(out);
    object.int("input_tokens", usage.input_total);
    let mut input = Object::open(object.key("input_tokens_details"));
    input.int("cached_tokens", usage.cache_read);
    input.int("cache_write_tokens", usage.cache_write.total());
    input.close();
    object.int("output_tokens", usage.output_total);
    let mut output = Object::open(object.key("output_tokens_details"));
    output.int("reasoning_tokens", usage.reasoning);
    output.close();
    object.int("total_tokens", usage.total());
    object.close();
}
