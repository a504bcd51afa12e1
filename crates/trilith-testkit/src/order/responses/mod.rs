//! The order of a Responses stream (openai-checklist E1 to E22).

mod item;

use serde_json::Value;

use super::{Order, ensure, fields, list, number, object, string};
use item::Item;

/// The state of one stream.
#[derive(Debug, Default)]
pub struct ResponsesOrder {
    next: u64,
    id: Option<String>,
    stage: Stage,
    items: Vec<Item>,
    /// The final response.
    last: Option<Value>,
    sentinel: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Nothing,
    Created,
    Queued,
    Running,
    /// `error` came; only `response.failed` may follow.
    Error,
    Ended,
}

impl ResponsesOrder {
    /// The response that the last event showed.
    pub const fn last(&self) -> Option<&Value> {
        self.last.as_ref()
    }

    fn event(&mut self, kind: &str, event: &Value) -> Result<(), String> {
        ensure(string(event, "type")? == kind, "`event:` and `type` differ")?;
        let sequence = number(event, "sequence_number")?;
        ensure(sequence == self.next, format!("sequence_number {sequence} instead of {}", self.next))?;
        self.next += 1;
        ensure(self.stage != Stage::Ended, "an event after the end of the response")?;
        match kind {
            "response.created" => self.life(event, kind, &[Stage::Nothing], Stage::Created),
            "response.queued" => self.life(event, kind, &[Stage::Created], Stage::Queued),
            "response.in_progress" => {
                self.life(event, kind, &[Stage::Created, Stage::Queued], Stage::Running)
            }
            "error" => {
                ensure(self.stage != Stage::Nothing && self.stage != Stage::Error, "an error at this place")?;
                let error = event.get("error").ok_or("`error` is missing")?;
                for name in ["type", "code", "message", "param"] {
                    ensure(error.get(name).is_some(), format!("the error has no `{name}`"))?;
                }
                ensure(event.get("message") == error.get("message"), "the error is not repeated at the top")?;
                self.stage = Stage::Error;
                Ok(())
            }
            "response.completed" | "response.incomplete" | "response.failed" => self.terminal(kind, event),
            _ => {
                ensure(self.stage == Stage::Running, format!("{kind} before response.in_progress"))?;
                self.item_event(kind, event)
            }
        }
    }

    /// An event that shows the response before it has output.
    fn life(&mut self, event: &Value, kind: &str, after: &[Stage], stage: Stage) -> Result<(), String> {
        ensure(after.contains(&self.stage), format!("{kind} at this place"))?;
        let response = self.response(event)?;
        let status = string(response, "status")?;
        ensure(status == "in_progress" || status == "queued", format!("status {status} at the beginning"))?;
        ensure(list(response, "output")?.is_empty(), "output at the beginning")?;
        ensure(response.get("usage").is_none_or(Value::is_null), "usage at the beginning")?;
        self.stage = stage;
        Ok(())
    }

    fn response<'a>(&mut self, event: &'a Value) -> Result<&'a Value, String> {
        let response = event.get("response").ok_or("`response` is missing")?;
        ensure(string(response, "object")? == "response", "`object` is not response")?;
        let id = string(response, "id")?;
        let known = self.id.get_or_insert_with(|| id.to_owned());
        ensure(known == id, "the response's id changed")?;
        Ok(response)
    }

    fn terminal(&mut self, kind: &str, event: &Value) -> Result<(), String> {
        let failed = kind == "response.failed";
        ensure(self.stage != Stage::Nothing, "an end before the beginning")?;
        ensure(failed || self.stage == Stage::Running, format!("{kind} at this place"))?;
        let response = self.response(event)?;
        let status = string(response, "status")?;
        ensure(kind.strip_prefix("response.") == Some(status), format!("{kind} with status {status}"))?;
        if let Some(open) = self.items.iter().position(|item| !item.is_done()) {
            return Err(format!("item {open} is still open"));
        }
        let output = list(response, "output")?;
        ensure(output.len() == self.items.len(), "the final output has another number of items")?;
        for (index, (shown, item)) in output.iter().zip(&self.items).enumerate() {
            ensure(
                Some(shown) == item.done(),
                format!("item {index} of the final output is not the one that was done"),
            )?;
        }
        let has = |name: &str| response.get(name).is_some_and(|value| !value.is_null());
        ensure(failed == has("error"), "`error` is filled exactly when the response failed")?;
        let incomplete = status == "incomplete";
        ensure(incomplete == has("incomplete_details"), "`incomplete_details` belongs to incomplete")?;
        ensure(failed || has("usage"), "an end without usage")?;
        self.stage = Stage::Ended;
        self.last = Some(response.clone());
        Ok(())
    }

    fn item_event(&mut self, kind: &str, event: &Value) -> Result<(), String> {
        if event.get("output_index").is_none() && kind.starts_with("response.audio.") {
            return Ok(());
        }
        let index = usize::try_from(number(event, "output_index")?).map_err(|why| why.to_string())?;
        if kind == "response.output_item.added" {
            ensure(
                index == self.items.len(),
                format!("item {index} begins before item {}", self.items.len()),
            )?;
            // Nothing that was captured interleaves items (E21).
            let open = self.items.iter().position(|item| !item.is_done());
            ensure(open.is_none(), format!("item {index} begins while another is open"))?;
            let item = event.get("item").ok_or("`item` is missing")?;
            let known = self.items.iter().any(|known| known.id() == item.get("id").and_then(Value::as_str));
            ensure(!known, "an item's id is used twice")?;
            self.items.push(Item::begin(item)?);
            return Ok(());
        }
        let item = self.items.get_mut(index).ok_or_else(|| format!("item {index} has not begun"))?;
        item.take(kind, event).map_err(|why| format!("item {index}: {why}"))
    }
}

impl Order for ResponsesOrder {
    fn frame(&mut self, frame: &str) -> Result<(), String> {
        let fields = fields(frame)?;
        ensure(!self.sentinel, "something comes after [DONE]")?;
        let Some(data) = fields.data else { return Ok(()) };
        if data == "[DONE]" {
            ensure(self.stage == Stage::Ended, "[DONE] before the end of the response")?;
            ensure(fields.event.is_none(), "[DONE] has an `event:` line")?;
            self.sentinel = true;
            return Ok(());
        }
        let event = object(data)?;
        self.event(fields.event.ok_or("an event without its `event:` line")?, &event)
    }

    fn end(&mut self) -> Result<(), String> {
        ensure(self.stage == Stage::Ended, "the response has no end")?;
        ensure(self.sentinel, "[DONE] is missing")
    }
}
