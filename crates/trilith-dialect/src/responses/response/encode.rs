//! Response objects for clients. The superset of what OpenAI's and Open Responses' types ask for is always
//! there (openai-checklist X6); there is no `output_text` on this wire.

use trilith_core::{
    ErrorKind, FinishReason, ItemBody, ItemStatus, OutputItem, Response, Status, call_id, item_id,
};

use super::{echo, usage::write_usage};
use crate::{
    openai_error,
    responses::{
        item::{View, write_item},
        object::Object,
    },
    spelling,
};

/// What of an answer is shown, by the request's `include`, and what every rendering of it repeats.
#[derive(Debug, Default)]
pub(in crate::responses) struct Shown {
    echo: Vec<u8>,
    pub(in crate::responses) logprobs: bool,
    encrypted: bool,
}

impl Shown {
    /// Renders what stays the same in every view of this response.
    pub(in crate::responses) fn of(response: &Response) -> Self {
        let includes = |word: &str| response.settings.include.iter().any(|included| &**included == word);
        let mut shown = Self {
            echo: Vec::with_capacity(1024),
            logprobs: includes("message.output_text.logprobs"),
            // Without a stored response the client is the only one who can keep it.
            encrypted: includes("reasoning.encrypted_content") || !response.store,
        };
        echo::write(&mut shown.echo, response);
        shown
    }
}

/// Writes the response object.
pub(in crate::responses) fn render(out: &mut Vec<u8>, response: &Response, shown: &Shown) {
    let mut object = Object::open(out);
    object.str("id", &response.id);
    object.str("object", "response");
    object.int("created_at", response.created_at);
    object.str("status", response.status.name());
    let completed = response.ended_at.filter(|_| response.status == Status::Completed);
    object.int_or_null("completed_at", completed);
    write_error(&mut object, response);
    match response.incomplete.as_ref().filter(|_| response.status == Status::Incomplete) {
        None => object.raw("incomplete_details", "null"),
        Some(reason) => {
            let mut inner = Object::open(object.key("incomplete_details"));
            inner.str("reason", incomplete_word(reason));
            inner.close();
        }
    }
    let list = object.key("output");
    list.push(b'[');
    let mut first = true;
    for (index, output) in response.output.iter().enumerate().filter(|(_, output)| output.choice == 0) {
        if !std::mem::take(&mut first) {
            list.push(b',');
        }
        write_output_item(list, response, u32::try_from(index).unwrap_or(u32::MAX), output, shown);
    }
    list.push(b']');
    object.str("service_tier", tier(response));
    match &response.usage {
        Some(usage) => write_usage(object.key("usage"), usage),
        None => object.raw("usage", "null"),
    }
    object.members(std::str::from_utf8(&shown.echo).unwrap_or_default());
    object.close();
}

/// The tier really used, as far as anyone knows.
fn tier(response: &Response) -> &str {
    let asked = response.settings.service_tier.as_deref().filter(|tier| *tier != "auto");
    match response.upstream.service_tier.as_deref().or(asked) {
        Some("fast") => "priority",
        Some(tier) => tier,
        None => "default",
    }
}

fn write_error(object: &mut Object<'_>, response: &Response) {
    let Some(error) = response.error.as_ref().filter(|_| response.status == Status::Failed) else {
        return object.raw("error", "null");
    };
    let code = match (&error.code, error.kind) {
        (Some(code), _) => code,
        (None, ErrorKind::RateLimited) => "rate_limit_exceeded",
        (None, ErrorKind::QuotaExhausted) => "insufficient_quota",
        (None, ErrorKind::BadRequest | ErrorKind::ContextTooLong) => "invalid_prompt",
        (None, _) => "server_error",
    };
    let mut inner = Object::open(object.key("error"));
    inner.str("code", code);
    inner.str("message", &openai_error::message(error, spelling::responses));
    inner.close();
}

/// The word of `incomplete_details.reason` (translation contract §12).
fn incomplete_word(reason: &FinishReason) -> &str {
    match reason {
        FinishReason::ContentFilter | FinishReason::Refusal => "content_filter",
        FinishReason::Other(word) if matches!(&**word, "max_messages" | "steered") => word,
        FinishReason::Stop
        | FinishReason::StopString(_)
        | FinishReason::ToolCalls
        | FinishReason::Length
        | FinishReason::ContextWindow
        | FinishReason::Paused
        | FinishReason::MalformedCall
        | FinishReason::Other(_) => "max_output_tokens",
    }
}

/// Writes one item of the output. Every item has an id, and every call a call id, the same in each view.
pub(in crate::responses) fn write_output_item(
    out: &mut Vec<u8>,
    response: &Response,
    index: u32,
    output: &OutputItem,
    shown: &Shown,
) {
    let (minted, minted_call);
    let item = &output.item;
    let id = match &item.id {
        Some(id) => id,
        None => {
            minted = item_id(&response.id, &item.body, index);
            &minted
        }
    };
    let mut view = View {
        id: Some(id),
        status: Some(item.status.unwrap_or(if output.open {
            ItemStatus::InProgress
        } else {
            ItemStatus::Completed
        })),
        logprobs: shown.logprobs,
        encrypted: shown.encrypted,
        ..View::default()
    };
    if let ItemBody::Call(call) = &item.body
        && call.call_id.is_none()
        && call.kind != trilith_core::CallKind::ToolSearch
    {
        minted_call = call_id(&response.id, index);
        view.call_id = Some(&minted_call);
    }
    let before = out.len();
    write_item(out, item, &view);
    if out.len() == before {
        // Another dialect's own item keeps its place in the list, so that later indexes stay true.
        let mut object = Object::open(out);
        object.str("type", "trilith:opaque");
        object.str("id", id);
        object.str("status", "completed");
        object.close();
    }
}
