//! The order of a Chat Completions stream (openai-checklist H30 to H37).

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Order, ensure, fields, list, number, object, string};

/// The state of one stream.
#[derive(Debug, Default)]
pub struct ChatOrder {
    /// What every chunk repeats.
    same: Option<[Value; 4]>,
    answers: BTreeMap<u64, Answer>,
    /// Chunks until now that had the usage key, and that had not.
    with_usage_key: usize,
    without_usage_key: usize,
    usage: Option<Value>,
    error: bool,
    done: bool,
}

/// What one of the answers has said until now.
#[derive(Debug, Default)]
pub struct Answer {
    /// The text, put together.
    pub text: String,
    /// The refusal, put together.
    pub refusal: String,
    /// The reasoning text, put together.
    pub reasoning: String,
    /// The calls' names and arguments, put together.
    pub calls: Vec<(String, String)>,
    /// Why it ended.
    pub finish: Option<String>,
}

impl ChatOrder {
    /// What the answers said, by number.
    pub const fn answers(&self) -> &BTreeMap<u64, Answer> {
        &self.answers
    }

    /// The token counts, if they were sent.
    pub const fn usage(&self) -> Option<&Value> {
        self.usage.as_ref()
    }

    fn chunk(&mut self, chunk: &Value) -> Result<(), String> {
        ensure(string(chunk, "object")? == "chat.completion.chunk", "`object` is not chat.completion.chunk")?;
        string(chunk, "id")?;
        string(chunk, "model")?;
        number(chunk, "created")?;
        let same = ["id", "model", "created", "system_fingerprint"]
            .map(|name| chunk.get(name).cloned().unwrap_or_default());
        match &self.same {
            Some(before) => ensure(*before == same, "id, model, created or fingerprint changed")?,
            None => self.same = Some(same),
        }
        let choices = list(chunk, "choices")?;
        self.count_usage(chunk, choices.is_empty())?;
        if choices.is_empty() {
            return Ok(());
        }
        ensure(self.usage.is_none(), "a chunk after the usage chunk")?;
        choices.iter().try_for_each(|choice| self.choice(choice))
    }

    fn count_usage(&mut self, chunk: &Value, empty: bool) -> Result<(), String> {
        match chunk.get("usage") {
            None => {
                self.without_usage_key += 1;
                ensure(!empty, "a chunk without choices and without usage")?;
            }
            Some(Value::Null) => {
                self.with_usage_key += 1;
                ensure(!empty, "a chunk without choices and without usage")?;
            }
            Some(usage) => {
                ensure(empty, "usage on a chunk with choices")?;
                ensure(self.usage.is_none(), "usage twice")?;
                ensure(self.without_usage_key == 0, "earlier chunks did not carry `usage: null`")?;
                let finished = self.answers.values().all(|answer| answer.finish.is_some());
                ensure(finished && !self.answers.is_empty(), "usage before the last finish")?;
                let total = number(usage, "prompt_tokens")? + number(usage, "completion_tokens")?;
                ensure(number(usage, "total_tokens")? == total, "total_tokens is not the sum")?;
                self.usage = Some(usage.clone());
            }
        }
        let mixed = self.with_usage_key > 0 && self.without_usage_key > 0;
        ensure(!mixed, "some chunks carry `usage`, some do not")
    }

    fn choice(&mut self, choice: &Value) -> Result<(), String> {
        let index = number(choice, "index")?;
        let first = !self.answers.contains_key(&index);
        let answer = self.answers.entry(index).or_default();
        ensure(answer.finish.is_none(), format!("answer {index} goes on after its finish"))?;
        let delta =
            choice.get("delta").filter(|delta| delta.is_object()).ok_or("`delta` must be an object")?;
        match delta.get("role") {
            Some(role) => ensure(first && role == "assistant", "the role comes once, with the first delta")?,
            None => ensure(!first, format!("the first delta of answer {index} has no role"))?,
        }
        if first {
            ensure(delta.get("tool_calls").is_none(), "the first delta holds calls beside the role")?;
        }
        for (name, place) in [
            ("content", &mut answer.text),
            ("refusal", &mut answer.refusal),
            ("reasoning_content", &mut answer.reasoning),
        ] {
            match delta.get(name) {
                None | Some(Value::Null) => {}
                Some(Value::String(text)) => place.push_str(text),
                Some(_) => return Err(format!("`delta.{name}` must be a string")),
            }
        }
        if let Some(calls) = delta.get("tool_calls") {
            let calls = calls.as_array().filter(|calls| !calls.is_empty());
            let calls = calls.ok_or("`delta.tool_calls` must be a list of calls")?;
            calls.iter().try_for_each(|call| answer.call(call))?;
        }
        ensure(delta.get("finish_reason").is_none(), "the finish reason is on the choice, not in the delta")?;
        match choice.get("finish_reason") {
            Some(Value::Null) => Ok(()),
            Some(Value::String(reason)) => answer.finish(reason, delta),
            _ => Err("`finish_reason` must be null or a string".into()),
        }
    }
}

impl Answer {
    fn call(&mut self, call: &Value) -> Result<(), String> {
        let index = usize::try_from(number(call, "index")?).map_err(|why| why.to_string())?;
        let fresh = index == self.calls.len();
        ensure(index <= self.calls.len(), format!("call {index} begins before call {}", self.calls.len()))?;
        let custom = call.get("custom").is_some();
        let (body, text) =
            if custom { (call.get("custom"), "input") } else { (call.get("function"), "arguments") };
        let body = body.ok_or("a call has `function` or `custom`")?;
        let piece = string(body, text)?;
        if fresh {
            ensure(!string(call, "id")?.is_empty(), "a call's id is empty")?;
            let kind = if custom { "custom" } else { "function" };
            ensure(string(call, "type")? == kind, format!("the call's type is not {kind}"))?;
            ensure(piece.is_empty(), format!("a call's first delta has `{text}: \"\"`"))?;
            self.calls.push((string(body, "name")?.to_owned(), String::new()));
            return Ok(());
        }
        for name in ["id", "type"] {
            ensure(call.get(name).is_none(), format!("`{name}` comes again in call {index}"))?;
        }
        ensure(body.get("name").is_none(), format!("the name comes again in call {index}"))?;
        if let Some((_, arguments)) = self.calls.get_mut(index) {
            arguments.push_str(piece);
        }
        Ok(())
    }

    fn finish(&mut self, reason: &str, delta: &Value) -> Result<(), String> {
        let known = ["stop", "length", "tool_calls", "content_filter", "function_call"];
        ensure(known.contains(&reason), format!("`{reason}` is no finish reason"))?;
        ensure(delta == &serde_json::json!({}), "the finish chunk has a delta of its own")?;
        ensure(reason != "tool_calls" || !self.calls.is_empty(), "finish tool_calls without a call")?;
        ensure(reason != "stop" || self.calls.is_empty(), "finish stop although there are calls")?;
        self.finish = Some(reason.to_owned());
        Ok(())
    }
}

impl Order for ChatOrder {
    fn frame(&mut self, frame: &str) -> Result<(), String> {
        let fields = fields(frame)?;
        ensure(!self.done, "something comes after [DONE]")?;
        ensure(fields.event.is_none(), "this wire has no `event:` lines")?;
        let Some(data) = fields.data else { return Ok(()) };
        if data == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        ensure(!self.error, "a chunk after the error")?;
        let chunk = object(data)?;
        if let Some(error) = chunk.get("error") {
            self.error = true;
            for name in ["message", "type", "param", "code"] {
                ensure(error.get(name).is_some(), format!("the error has no `{name}`"))?;
            }
            return Ok(());
        }
        self.chunk(&chunk)
    }

    fn end(&mut self) -> Result<(), String> {
        ensure(self.done, "[DONE] is missing")?;
        if self.error {
            return Ok(());
        }
        ensure(!self.answers.is_empty(), "no answer at all")?;
        let open = self.answers.iter().find(|(_, answer)| answer.finish.is_none());
        ensure(open.is_none(), "an answer has no finish")?;
        ensure(self.with_usage_key == 0 || self.usage.is_some(), "`usage: null` was promised, no usage came")
    }
}
