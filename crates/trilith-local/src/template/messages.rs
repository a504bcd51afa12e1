//! Messages in the shape that chat templates expect, and a shape in plain text for templates that know
//! nothing of tools.

use serde_json::{Map, Value, json};

use crate::GenerateError;
use crate::request::{ChatMessage, HistoricCall};

/// Who writes tool definitions, calls and results into the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The template does.
    Native,
    /// We do, as text inside messages.
    InText,
}

/// The tool definitions as JSON.
pub(super) fn parse_tools(tools: &[String]) -> Result<Vec<Value>, GenerateError> {
    tools
        .iter()
        .map(|text| match serde_json::from_str(text) {
            Ok(tool @ Value::Object(_)) => Ok(tool),
            _ => Err(GenerateError::InvalidParameter { name: "tools", reason: "must be JSON objects" }),
        })
        .collect()
}

/// The messages as JSON objects with `role` and `content`.
pub(super) fn to_json(messages: &[ChatMessage], tools: &[Value], form: Form) -> Vec<Value> {
    match form {
        Form::Native => messages.iter().map(native).collect(),
        Form::InText => in_text(messages, tools),
    }
}

fn message(role: &str, content: &str) -> Value {
    json!({ "role": role, "content": content })
}

fn native(source: &ChatMessage) -> Value {
    match source {
        ChatMessage::System(text) => message("system", text),
        ChatMessage::User(text) => message("user", text),
        ChatMessage::Assistant { text, tool_calls } => {
            let mut message = message("assistant", text);
            if !tool_calls.is_empty() {
                message["tool_calls"] = tool_calls.iter().map(native_call).collect();
            }
            message
        }
        ChatMessage::ToolResult { call_id, name, text } => {
            json!({ "role": "tool", "content": text, "tool_call_id": call_id, "name": name })
        }
    }
}

fn native_call(call: &HistoricCall) -> Value {
    json!({
        "id": call.id,
        "type": "function",
        "function": { "name": call.name, "arguments": arguments(call) },
    })
}

/// Templates write the arguments with `tojson`, so they get the value and not its text.
fn arguments(call: &HistoricCall) -> Value {
    serde_json::from_str(&call.arguments).unwrap_or_else(|_| Value::String(call.arguments.clone()))
}

/// Definitions go to the end of the first system message, calls into the text of the assistant, results
/// into a message of the user, which every template has. Neighbours of the same role become one message,
/// since many templates insist on turns.
fn in_text(messages: &[ChatMessage], tools: &[Value]) -> Vec<Value> {
    let mut all: Vec<(&str, String)> = Vec::new();
    if !tools.is_empty() && !matches!(messages.first(), Some(ChatMessage::System(_))) {
        all.push(("system", tool_instructions(tools)));
    }
    for (index, source) in messages.iter().enumerate() {
        let (role, content) = match source {
            ChatMessage::System(text) if index == 0 && !tools.is_empty() => {
                ("system", format!("{text}\n\n{}", tool_instructions(tools)))
            }
            ChatMessage::System(text) => ("system", text.clone()),
            ChatMessage::User(text) => ("user", text.clone()),
            ChatMessage::Assistant { text, tool_calls } => ("assistant", assistant_text(text, tool_calls)),
            ChatMessage::ToolResult { text, .. } => {
                ("user", format!("<tool_response>\n{text}\n</tool_response>"))
            }
        };
        let after_result =
            index > 0 && matches!(messages.get(index - 1), Some(ChatMessage::ToolResult { .. }));
        match all.last_mut() {
            Some((last, text)) if *last == role && after_result => {
                text.push('\n');
                text.push_str(&content);
            }
            _ => all.push((role, content)),
        }
    }
    all.iter().map(|(role, content)| message(role, content)).collect()
}

fn assistant_text(text: &str, calls: &[HistoricCall]) -> String {
    let mut parts: Vec<String> = if text.is_empty() { Vec::new() } else { vec![text.to_owned()] };
    parts.extend(calls.iter().map(|call| {
        let call = json!({ "name": call.name, "arguments": arguments(call) });
        format!("<tool_call>\n{call}\n</tool_call>")
    }));
    parts.join("\n")
}

/// The wording is that of the Hermes and Qwen templates, which small models know best.
fn tool_instructions(tools: &[Value]) -> String {
    let tools: Vec<String> = tools.iter().map(Value::to_string).collect();
    format!(
        "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n\
         You are provided with function signatures within <tools></tools> XML tags:\n\
         <tools>\n{}\n</tools>\n\n\
         For each function call, return a json object with function name and arguments within \
         <tool_call></tool_call> XML tags:\n\
         <tool_call>\n{{\"name\": <function-name>, \"arguments\": <args-json-object>}}\n</tool_call>",
        tools.join("\n")
    )
}

/// The messages with the leading system message put in front of the first message of the user; `None` when
/// there is none to move.
pub(super) fn without_system(messages: &[Value]) -> Option<Vec<Value>> {
    let (system, rest) = messages.split_first()?;
    if system["role"] != "system" {
        return None;
    }
    let mut rest = rest.to_vec();
    let first = rest.iter_mut().find(|message| message["role"] == "user")?;
    let joined = format!("{}\n\n{}", system["content"].as_str()?, first["content"].as_str()?);
    first["content"] = Value::String(joined);
    Some(rest)
}

/// The value with `guard` applied to every text in it, the keys of objects included.
pub(super) fn guarded(value: Value, guard: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(guard(&text)),
        Value::Array(items) => items.into_iter().map(|item| guarded(item, guard)).collect(),
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .map(|(key, member)| (guard(&key), guarded(member, guard)))
                .collect::<Map<_, _>>(),
        ),
        other => other,
    }
}
