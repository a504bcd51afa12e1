//! The order of a Completions stream (openai-checklist C8 to C11).

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Order, ensure, fields, list, number, object, string};

/// The state of one stream.
#[derive(Debug, Default)]
pub struct CompletionsOrder {
    /// What every chunk repeats.
    same: Option<[Value; 4]>,
    answers: BTreeMap<u64, Answer>,
    /// Whether chunks have the usage key.
    usage_key: Option<bool>,
    usage: Option<Value>,
    error: bool,
    done: bool,
}

/// What one of the answers has said until now.
#[derive(Debug, Default)]
pub struct Answer {
    /// The text, put together.
    pub text: String,
    /// Where the newest token stands, in characters.
    offset: u64,
    /// Why it ended.
    pub finish: Option<String>,
}

impl CompletionsOrder {
    /// What the answers said, by number.
    pub const fn answers(&self) -> &BTreeMap<u64, Answer> {
        &self.answers
    }

    /// The token counts, if they were sent.
    pub const fn usage(&self) -> Option<&Value> {
        self.usage.as_ref()
    }

    fn chunk(&mut self, chunk: &Value) -> Result<(), String> {
        ensure(string(chunk, "object")? == "text_completion", "`object` is not text_completion")?;
        ensure(string(chunk, "id")?.starts_with("cmpl-"), "`id` does not begin with cmpl-")?;
        string(chunk, "model")?;
        number(chunk, "created")?;
        let same = ["id", "model", "created", "system_fingerprint"]
            .map(|name| chunk.get(name).cloned().unwrap_or_default());
        match &self.same {
            Some(before) => ensure(*before == same, "id, model, created or fingerprint changed")?,
            None => self.same = Some(same),
        }
        let choices = list(chunk, "choices")?;
        let key = chunk.get("usage").is_some();
        ensure(*self.usage_key.get_or_insert(key) == key, "some chunks carry `usage`, some do not")?;
        ensure(self.usage.is_none(), "a chunk after the usage chunk")?;
        let usage = chunk.get("usage").filter(|usage| !usage.is_null());
        ensure(
            usage.is_some() == choices.is_empty(),
            "usage comes in a chunk of its own, which has no choices",
        )?;
        if let Some(usage) = usage {
            let finished = self.answers.values().all(|answer| answer.finish.is_some());
            ensure(finished && !self.answers.is_empty(), "usage before the last finish")?;
            let total = number(usage, "prompt_tokens")? + number(usage, "completion_tokens")?;
            ensure(number(usage, "total_tokens")? == total, "total_tokens is not the sum")?;
            self.usage = Some(usage.clone());
        }
        choices.iter().try_for_each(|choice| self.choice(choice))
    }

    fn choice(&mut self, choice: &Value) -> Result<(), String> {
        let index = number(choice, "index")?;
        let answer = self.answers.entry(index).or_default();
        ensure(answer.finish.is_none(), format!("answer {index} goes on after its finish"))?;
        for name in ["delta", "message"] {
            ensure(choice.get(name).is_none(), format!("`{name}` is of Chat Completions"))?;
        }
        answer.text.push_str(string(choice, "text")?);
        answer.tokens(choice.get("logprobs").ok_or("a choice has `logprobs`")?)?;
        match choice.get("finish_reason") {
            Some(Value::Null) => Ok(()),
            Some(Value::String(reason)) => {
                let known = ["stop", "length", "content_filter"];
                ensure(known.contains(&reason.as_str()), format!("`{reason}` is no finish reason"))?;
                answer.finish = Some(reason.clone());
                Ok(())
            }
            _ => Err("`finish_reason` must be null or a string".into()),
        }
    }
}

impl Answer {
    fn tokens(&mut self, logprobs: &Value) -> Result<(), String> {
        if logprobs.is_null() {
            return Ok(());
        }
        let tokens = list(logprobs, "tokens")?.len();
        let offsets = list(logprobs, "text_offset")?;
        let told = list(logprobs, "token_logprobs")?.len();
        ensure(tokens == told && tokens == offsets.len(), "the lists of `logprobs` differ in length")?;
        match logprobs.get("top_logprobs") {
            Some(Value::Null) => {}
            Some(Value::Array(top)) => {
                ensure(top.len() == tokens, "`top_logprobs` is not one for each token")?;
                let fits = top.iter().all(|entry| entry.is_object() || entry.is_null());
                ensure(fits, "an entry of `top_logprobs` is an object or null")?;
            }
            _ => return Err("`top_logprobs` must be null or a list".into()),
        }
        for offset in offsets {
            let offset = offset.as_u64().ok_or("`text_offset` holds numbers from 0")?;
            ensure(offset >= self.offset, "`text_offset` goes back")?;
            self.offset = offset;
        }
        Ok(())
    }
}

impl Order for CompletionsOrder {
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
        ensure(
            self.usage_key != Some(true) || self.usage.is_some(),
            "`usage: null` was promised, no usage came",
        )
    }
}
