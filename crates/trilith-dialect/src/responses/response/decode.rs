//! An upstream's whole answer, as the events its stream would have given.

use trilith_core::{Begin, Error, Event, Finish, FinishReason};

use super::usage::decode_usage;
use crate::{
    names::NameMap,
    openai_error,
    responses::stream::Assembly,
    tape::{Tape, Value},
};

/// Reads a whole answer.
///
/// # Errors
/// The body is no response object, or one that failed.
pub(in crate::responses) fn decode(body: &[u8], names: &NameMap, out: &mut Vec<Event>) -> Result<(), Error> {
    let mut tape = Tape::default();
    let Ok(root) = tape.read_bytes(body) else {
        return Err(Error::upstream("The upstream's answer is not valid JSON."));
    };
    if root.get("output").is_none() && root.get("error").is_some() {
        return Err(
            openai_error::in_body(body).unwrap_or_else(|| openai_error::nonsense("a body without an answer"))
        );
    }
    if root.get("output").is_none() && root.get("status").is_none() {
        return Err(Error::upstream("The upstream's answer is not a response object."));
    }
    let mut assembly = Assembly::new(names.clone());
    out.push(Event::Begin(Box::new(begin(root))));
    assembly.terminal(root, out)
}

/// What a response object says about its upstream.
pub(in crate::responses) fn begin(response: Value<'_>) -> Begin {
    Begin {
        upstream_id: response.str("id").map(Into::into),
        model: response.str("model").map(Into::into),
        created_at: response.get("created_at").and_then(Value::seconds),
        // What was asked for is no tier yet.
        service_tier: response.str("service_tier").filter(|tier| tier != "auto").map(Into::into),
        system_fingerprint: None,
        extra: trilith_core::Extra::EMPTY,
    }
}

/// Why a response object ended, with its usage before it.
///
/// # Errors
/// It failed, was cancelled, or has not ended.
pub(in crate::responses) fn finish_reason(
    response: Value<'_>,
    calls_client: bool,
    out: &mut Vec<Event>,
) -> Result<(), Error> {
    let status = response.str("status");
    let details = response.get("incomplete_details").and_then(|details| details.str("reason"));
    let reason = match (status.as_deref(), details.as_deref()) {
        (Some("failed"), _) => return Err(upstream_failure(response.get("error").unwrap_or(response))),
        (Some("cancelled"), _) => return Err(Error::upstream("The upstream cancelled its answer.")),
        (Some("queued" | "in_progress"), _) => {
            return Err(Error::upstream("The upstream's answer has not ended."));
        }
        (Some("incomplete"), Some("content_filter")) => FinishReason::ContentFilter,
        (Some("incomplete"), Some("max_output_tokens") | None) => FinishReason::Length,
        (Some("incomplete"), Some(word)) => FinishReason::Other(word.into()),
        _ if calls_client => FinishReason::ToolCalls,
        _ => FinishReason::Stop,
    };
    if let Some(usage) = response.get("usage") {
        out.push(Event::Usage(decode_usage(usage)));
    }
    out.push(Event::Finish(Finish { choice: 0, reason }));
    Ok(())
}

/// The error that an upstream put into its answer.
pub(in crate::responses) fn upstream_failure(value: Value<'_>) -> Error {
    openai_error::in_answer(value.raw())
}
