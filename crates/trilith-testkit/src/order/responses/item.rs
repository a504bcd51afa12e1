//! The life of one output item: added, its parts and texts, done.

use serde_json::Value;

use super::{ensure, list, number, string};

/// An item of the output.
#[derive(Debug)]
pub(super) struct Item {
    kind: String,
    added: Value,
    parts: Vec<Part>,
    /// Summary parts of a reasoning item.
    summaries: Vec<Part>,
    /// The text that grows outside parts: arguments, input, code, diff.
    text: Text,
    done: Option<Value>,
}

#[derive(Debug, Default)]
struct Text {
    grown: String,
    deltas: usize,
    done: bool,
}

#[derive(Debug)]
struct Part {
    kind: String,
    text: Text,
    annotations: u64,
    closed: bool,
}

/// Where an item's own text lies in it, by the event's middle word.
const TEXTS: &[(&str, &str, &str)] = &[
    ("function_call_arguments", "function_call", "arguments"),
    ("custom_tool_call_input", "custom_tool_call", "input"),
    ("mcp_call_arguments", "mcp_call", "arguments"),
    ("code_interpreter_call_code", "code_interpreter_call", "code"),
    ("apply_patch_call_operation_diff", "apply_patch_call", "diff"),
];

impl Item {
    pub(super) fn begin(item: &Value) -> Result<Self, String> {
        let kind = string(item, "type")?.to_owned();
        let empty = |name: &str| match item.get(name) {
            None | Some(Value::Null) => true,
            Some(Value::String(text)) => text.is_empty(),
            Some(Value::Array(list)) => list.is_empty(),
            Some(_) => false,
        };
        let must_be_empty: &[&str] = match kind.as_str() {
            "message" => &["content"],
            "reasoning" => &["summary", "content"],
            "function_call" => &["arguments"],
            "custom_tool_call" => &["input"],
            _ => &[],
        };
        for name in must_be_empty {
            ensure(empty(name), format!("`{name}` is not empty when the item begins"))?;
        }
        if matches!(kind.as_str(), "message" | "function_call") {
            ensure(item.get("status").is_some_and(|s| s == "in_progress"), "it does not begin in_progress")?;
        }
        ensure(!string(item, "id")?.is_empty(), "an item's id is empty")?;
        let added = item.clone();
        Ok(Self { kind, added, parts: Vec::new(), summaries: Vec::new(), text: Text::default(), done: None })
    }

    pub(super) const fn is_done(&self) -> bool {
        self.done.is_some()
    }

    pub(super) const fn done(&self) -> Option<&Value> {
        self.done.as_ref()
    }

    pub(super) fn id(&self) -> Option<&str> {
        self.added.get("id").and_then(Value::as_str)
    }

    pub(super) fn take(&mut self, kind: &str, event: &Value) -> Result<(), String> {
        ensure(self.done.is_none(), "an event after the item's end")?;
        if kind == "response.output_item.done" {
            return self.end(event.get("item").ok_or("`item` is missing")?);
        }
        if !kind.starts_with("response.shell_call_command.") {
            ensure(event.get("item_id").and_then(Value::as_str) == self.id(), "`item_id` is another item's")?;
        }
        let rest = kind.strip_prefix("response.").ok_or_else(|| format!("`{kind}` is no event"))?;
        let (what, step) = rest.rsplit_once('.').ok_or_else(|| format!("`{kind}` is no event"))?;
        match what {
            "content_part" => self.content_part(step, event),
            "output_text" | "refusal" | "reasoning_text" => self.content(what, step, event),
            "output_text.annotation" => self.annotation(event),
            "reasoning_summary_part" => self.summary_part(step, event),
            "reasoning_summary_text" => {
                ensure(self.kind == "reasoning", "a summary outside reasoning")?;
                let part = nth(&mut self.summaries, number(event, "summary_index")?)?;
                ensure(!part.closed, "the summary part is closed")?;
                part.text.step(step, event, "text")
            }
            _ => self.own_text(what, step, event),
        }
    }

    fn own_text(&mut self, what: &str, step: &str, event: &Value) -> Result<(), String> {
        let Some((_, kind, field)) = TEXTS.iter().find(|(word, ..)| *word == what) else {
            // Steps of hosted tools: each names its own kind of item.
            let hosted = what.starts_with(self.kind.as_str()) || what == "compaction";
            return ensure(hosted, format!("an event of {what} in an item of {}", self.kind));
        };
        ensure(self.kind == *kind, format!("{what} in an item of {}", self.kind))?;
        self.text.step(step, event, field)
    }

    fn content_part(&mut self, step: &str, event: &Value) -> Result<(), String> {
        let index = number(event, "content_index")?;
        let part = event.get("part").ok_or("`part` is missing")?;
        let kind = string(part, "type")?;
        match step {
            "added" => {
                ensure(index == self.parts.len() as u64, "a part begins out of order")?;
                ensure(self.parts.iter().all(|part| part.closed), "a part begins while another is open")?;
                let text = part.get(text_field(kind)).and_then(Value::as_str).unwrap_or_default();
                ensure(text.is_empty(), "a part begins with text")?;
                self.parts.push(Part {
                    kind: kind.into(),
                    text: Text::default(),
                    annotations: 0,
                    closed: false,
                });
                Ok(())
            }
            "done" => {
                let open = nth(&mut self.parts, index)?;
                ensure(!open.closed, "the part is closed twice")?;
                ensure(open.kind == kind, "the part changed its type")?;
                open.check(part)?;
                open.closed = true;
                Ok(())
            }
            _ => Err(format!("`{step}` is no step of a part")),
        }
    }

    fn content(&mut self, what: &str, step: &str, event: &Value) -> Result<(), String> {
        let part = nth(&mut self.parts, number(event, "content_index")?)?;
        ensure(part.kind == what, format!("{what} in a part of {}", part.kind))?;
        ensure(!part.closed, "the part is closed")?;
        part.text.step(step, event, if what == "refusal" { "refusal" } else { "text" })
    }

    fn annotation(&mut self, event: &Value) -> Result<(), String> {
        let part = nth(&mut self.parts, number(event, "content_index")?)?;
        ensure(part.kind == "output_text" && !part.closed, "an annotation without its text")?;
        ensure(!part.text.done, "an annotation after the text's end")?;
        ensure(number(event, "annotation_index")? == part.annotations, "an annotation out of order")?;
        part.annotations += 1;
        Ok(())
    }

    fn summary_part(&mut self, step: &str, event: &Value) -> Result<(), String> {
        ensure(self.kind == "reasoning", "a summary outside reasoning")?;
        let index = number(event, "summary_index")?;
        let part = event.get("part").ok_or("`part` is missing")?;
        if step == "added" {
            ensure(index == self.summaries.len() as u64, "a summary part begins out of order")?;
            ensure(self.summaries.iter().all(|part| part.closed), "two summary parts are open")?;
            let kind = "summary_text".to_owned();
            self.summaries.push(Part { kind, text: Text::default(), annotations: 0, closed: false });
            return Ok(());
        }
        let open = nth(&mut self.summaries, index)?;
        ensure(!open.closed, "the summary part is closed twice")?;
        open.check(part)?;
        open.closed = true;
        Ok(())
    }

    fn end(&mut self, item: &Value) -> Result<(), String> {
        for name in ["type", "id", "call_id", "name", "role"] {
            ensure(
                item.get(name) == self.added.get(name),
                format!("`{name}` changed between added and done"),
            )?;
        }
        ensure(
            item.get("status").is_none_or(|status| status != "in_progress"),
            "it is done but in_progress",
        )?;
        ensure(self.parts.iter().chain(&self.summaries).all(|part| part.closed), "a part is still open")?;
        for (name, parts) in [("content", &self.parts), ("summary", &self.summaries)] {
            if !parts.is_empty() {
                let shown = list(item, name)?;
                ensure(shown.len() == parts.len(), format!("`{name}` has another number of parts"))?;
                parts.iter().zip(shown).try_for_each(|(part, shown)| part.check(shown))?;
            }
        }
        if let Some((.., field)) = TEXTS.iter().find(|(_, kind, _)| *kind == self.kind) {
            let streams = matches!(self.kind.as_str(), "function_call" | "custom_tool_call");
            ensure(!streams || self.text.done, format!("`{field}` was not declared done"))?;
            ensure(self.kind != "function_call" || self.text.deltas > 0, "a call without a delta")?;
            if self.text.done && *field != "diff" {
                ensure(
                    string(item, field)? == self.text.grown,
                    format!("`{field}` is not what its deltas say"),
                )?;
            }
        }
        self.done = Some(item.clone());
        Ok(())
    }
}

impl Text {
    fn step(&mut self, step: &str, event: &Value, field: &str) -> Result<(), String> {
        ensure(!self.done, "an event after the text's end")?;
        match step {
            "delta" => {
                self.grown.push_str(string(event, "delta")?);
                self.deltas += 1;
                Ok(())
            }
            "done" => {
                ensure(string(event, field)? == self.grown, format!("`{field}` is not what its deltas say"))?;
                self.done = true;
                Ok(())
            }
            _ => Err(format!("`{step}` is no step of a text")),
        }
    }
}

impl Part {
    fn check(&self, shown: &Value) -> Result<(), String> {
        ensure(self.text.done, "a part ends before its text is declared done")?;
        let field = text_field(&self.kind);
        ensure(string(shown, field)? == self.text.grown, "a part's text is not what its deltas say")?;
        let annotations = shown.get("annotations").and_then(Value::as_array).map_or(0, Vec::len) as u64;
        ensure(self.kind != "output_text" || annotations == self.annotations, "annotations differ")
    }
}

fn text_field(kind: &str) -> &'static str {
    if kind == "refusal" { "refusal" } else { "text" }
}

fn nth(parts: &mut [Part], index: u64) -> Result<&mut Part, String> {
    let index = usize::try_from(index).map_err(|why| why.to_string())?;
    parts.get_mut(index).ok_or_else(|| format!("part {index} has not begun"))
}
