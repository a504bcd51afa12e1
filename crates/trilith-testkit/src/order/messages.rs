//! The order of a Messages stream (dialects §1.7).

use serde_json::Value;

use super::{Order, ensure, fields, number, object, string};

/// The state of one stream.
#[derive(Debug, Default)]
pub struct MessagesOrder {
    started: bool,
    blocks: Vec<Block>,
    open: bool,
    stop_reason: Option<String>,
    usage: Option<Value>,
    error: Option<Value>,
    done: bool,
}

/// One content block, put together.
#[derive(Debug, Default)]
pub struct Block {
    /// Its type.
    pub kind: String,
    /// The block as it began.
    pub start: Value,
    /// Its text, reasoning text or arguments, put together.
    pub text: String,
    /// The signature of a thinking block.
    pub signature: Option<String>,
    /// The citations of a text block.
    pub citations: Vec<Value>,
}

impl MessagesOrder {
    /// The blocks until now.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Why the answer stopped.
    pub fn stop_reason(&self) -> Option<&str> {
        self.stop_reason.as_deref()
    }

    /// The last token counts.
    pub const fn usage(&self) -> Option<&Value> {
        self.usage.as_ref()
    }

    /// The error that ended the stream.
    pub const fn error(&self) -> Option<&Value> {
        self.error.as_ref()
    }

    fn start(&mut self, event: &Value) -> Result<(), String> {
        ensure(!self.started, "message_start comes twice")?;
        self.started = true;
        let message = event.get("message").ok_or("message_start has no message")?;
        ensure(string(message, "id")?.starts_with("msg_"), "the id is not `msg_…`")?;
        ensure(string(message, "type")? == "message", "the message's type is not `message`")?;
        ensure(string(message, "role")? == "assistant", "the role is not assistant")?;
        string(message, "model")?;
        ensure(message.get("content") == Some(&serde_json::json!([])), "the message begins with content")?;
        for name in ["stop_reason", "stop_sequence"] {
            ensure(message.get(name) == Some(&Value::Null), format!("`{name}` is told at the begin"))?;
        }
        count(message)
    }

    fn block_start(&mut self, event: &Value) -> Result<(), String> {
        ensure(!self.open, "a block begins while another is open")?;
        ensure(self.stop_reason.is_none(), "a block begins after the stop reason")?;
        ensure(number(event, "index")? == self.blocks.len() as u64, "the index is not the next one")?;
        let start = event.get("content_block").cloned().ok_or("content_block_start has no block")?;
        let kind = string(&start, "type")?.to_owned();
        match &*kind {
            "text" => ensure(string(&start, "text")?.is_empty(), "a text block begins with text")?,
            "thinking" => {
                ensure(string(&start, "thinking")?.is_empty(), "a thinking block begins with text")?;
                ensure(string(&start, "signature")?.is_empty(), "a thinking block begins with a signature")?;
            }
            "tool_use" => {
                ensure(!string(&start, "id")?.is_empty(), "a call's id is empty")?;
                ensure(!string(&start, "name")?.is_empty(), "a call's name is empty")?;
                ensure(start.get("input") == Some(&serde_json::json!({})), "a call begins with input")?;
            }
            _ => {}
        }
        self.open = true;
        self.blocks.push(Block { kind, start, ..Block::default() });
        Ok(())
    }

    fn current(&mut self, event: &Value) -> Result<&mut Block, String> {
        ensure(self.open, "no block is open")?;
        let last = self.blocks.len() as u64 - 1;
        ensure(number(event, "index")? == last, "the index is not that of the open block")?;
        self.blocks.last_mut().ok_or_else(|| "no block".to_owned())
    }

    fn delta(&mut self, event: &Value) -> Result<(), String> {
        let block = self.current(event)?;
        let delta = event.get("delta").ok_or("content_block_delta has no delta")?;
        let kind = string(delta, "type")?;
        ensure(block.signature.is_none(), "a thinking block goes on after its signature")?;
        match (&*block.kind, kind) {
            ("text", "text_delta") => block.text.push_str(string(delta, "text")?),
            ("text", "citations_delta") => {
                block.citations.push(delta.get("citation").cloned().ok_or("no citation")?);
            }
            ("thinking", "thinking_delta") => block.text.push_str(string(delta, "thinking")?),
            ("thinking", "signature_delta") => block.signature = Some(string(delta, "signature")?.to_owned()),
            ("tool_use" | "server_tool_use" | "mcp_tool_use", "input_json_delta") => {
                block.text.push_str(string(delta, "partial_json")?);
            }
            ("compaction", "compaction_delta") => {}
            (block, delta) => return Err(format!("a {delta} in a block of type {block}")),
        }
        Ok(())
    }

    fn block_stop(&mut self, event: &Value) -> Result<(), String> {
        let block = self.current(event)?;
        ensure(block.kind != "text" || !block.text.is_empty(), "a text block without text")?;
        self.open = false;
        Ok(())
    }

    fn message_delta(&mut self, event: &Value) -> Result<(), String> {
        ensure(!self.open, "the stop reason comes while a block is open")?;
        let delta = event.get("delta").ok_or("message_delta has no delta")?;
        let reason = string(delta, "stop_reason")?;
        let known = [
            "end_turn",
            "stop_sequence",
            "tool_use",
            "max_tokens",
            "model_context_window_exceeded",
            "pause_turn",
            "refusal",
            "compaction",
        ];
        ensure(known.contains(&reason), format!("`{reason}` is no stop reason"))?;
        let calls = self.blocks.iter().any(|block| block.kind == "tool_use");
        ensure(reason != "tool_use" || calls, "stop reason tool_use without a call")?;
        ensure(reason != "end_turn" || !calls, "stop reason end_turn although there are calls")?;
        ensure(delta.get("stop_sequence").is_some(), "`stop_sequence` is missing")?;
        self.stop_reason = Some(reason.to_owned());
        count(event)?;
        self.usage = event.get("usage").cloned();
        Ok(())
    }
}

fn count(holder: &Value) -> Result<(), String> {
    let usage = holder.get("usage").ok_or("`usage` is missing")?;
    number(usage, "input_tokens")?;
    number(usage, "output_tokens").map(drop)
}

impl Order for MessagesOrder {
    fn frame(&mut self, frame: &str) -> Result<(), String> {
        let fields = fields(frame)?;
        let Some(data) = fields.data else { return Ok(()) };
        ensure(!self.done, "something comes after message_stop")?;
        ensure(self.error.is_none(), "something comes after the error")?;
        let event = object(data)?;
        let kind = string(&event, "type")?;
        ensure(fields.event == Some(kind), "the `event:` line is not the type")?;
        let early = matches!(kind, "message_start" | "ping" | "error");
        ensure(self.started || early, "the stream does not begin with message_start")?;
        match kind {
            "message_start" => self.start(&event),
            "content_block_start" => self.block_start(&event),
            "content_block_delta" => self.delta(&event),
            "content_block_stop" => self.block_stop(&event),
            "message_delta" => self.message_delta(&event),
            "message_stop" => {
                ensure(self.stop_reason.is_some(), "message_stop without a stop reason")?;
                self.done = true;
                Ok(())
            }
            "ping" => Ok(()),
            "error" => {
                let error = event.get("error").ok_or("the error is missing")?;
                string(error, "type")?;
                string(error, "message")?;
                self.error = Some(error.clone());
                Ok(())
            }
            kind => Err(format!("`{kind}` is no event")),
        }
    }

    fn end(&mut self) -> Result<(), String> {
        ensure(self.done || self.error.is_some(), "message_stop is missing")
    }
}

#[cfg(test)]
mod tests {
    use trilith_core::DialectId;

    use crate::order::check;

    const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":0}}}"#;
    const OPEN: &str =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
    const DELTA: &str =
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#;
    const CLOSE: &str = r#"{"type":"content_block_stop","index":0}"#;
    const END: &str = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":1,"output_tokens":1}}"#;
    const STOP: &str = r#"{"type":"message_stop"}"#;
    const ERROR: &str = r#"{"type":"error","error":{"type":"api_error","message":"x"}}"#;

    fn run(events: &[&str]) -> Result<(), String> {
        let frame = |data: &&str| {
            let kind = data.split('"').nth(3).unwrap_or_default();
            format!("event: {kind}\ndata: {data}\n\n")
        };
        check(DialectId::Messages, events.iter().map(frame).collect::<String>().as_bytes())
    }

    #[test]
    fn legal_streams_pass_and_others_do_not() {
        for legal in [
            &[START, OPEN, DELTA, CLOSE, END, STOP][..],
            &[START, END, STOP],
            &[ERROR],
            &[START, OPEN, DELTA, ERROR],
        ] {
            assert_eq!(run(legal), Ok(()));
        }
        for wrong in [
            &[][..],
            &[START],
            &[END, STOP],
            &[START, START, END, STOP],
            &[START, OPEN, CLOSE, END, STOP],
            &[START, OPEN, DELTA, END, STOP],
            &[START, OPEN, OPEN, DELTA, CLOSE, END, STOP],
            &[START, DELTA, END, STOP],
            &[START, OPEN, DELTA, CLOSE, STOP],
            &[START, END, STOP, STOP],
            &[START, ERROR, STOP],
        ] {
            assert!(run(wrong).is_err(), "{wrong:?}");
        }
    }
}
