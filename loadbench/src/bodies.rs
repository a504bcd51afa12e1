//! The request bodies of the scenarios.

use serde_json::{Value, json};

use crate::wire::{Dialect, Scenario};

/// Tools in an agent-sized request.
const TOOLS: usize = 20;
/// Earlier tool calls in an agent-sized conversation.
const TURNS: usize = 8;
/// Size that an agent-sized body is padded to, in bytes.
const AGENT_BYTES: usize = 50_000;

/// The body of one request; `store` is sent only when given.
pub(crate) fn body(dialect: Dialect, scenario: Scenario, model: &str, store: Option<bool>) -> String {
    if scenario != Scenario::Agent {
        return build(dialect, scenario, model, store, 0);
    }
    let bare = build(dialect, scenario, model, store, 0).len();
    // One filler line is 48 bytes on the wire and appears once in each turn's tool result.
    let lines = AGENT_BYTES.saturating_sub(bare) / (48 * TURNS);
    build(dialect, scenario, model, store, lines)
}

fn build(dialect: Dialect, scenario: Scenario, model: &str, store: Option<bool>, filler: usize) -> String {
    let mut body = json!({"model": model});
    let agent = scenario == Scenario::Agent;
    match dialect {
        Dialect::Chat => {
            body["messages"] = if agent { chat_messages(filler) } else { small_chat() };
            if agent {
                body["tools"] =
                    (0..TOOLS).map(|n| json!({"type": "function", "function": tool(n)})).collect();
            }
        }
        Dialect::Responses => {
            body["input"] = if agent { responses_input(filler) } else { small_responses() };
            body["instructions"] = json!(if agent { SYSTEM } else { "You are terse." });
            if agent {
                body["tools"] = (0..TOOLS).map(responses_tool).collect();
            }
        }
        Dialect::Messages => {
            body["max_tokens"] = json!(1024);
            body["system"] = json!(if agent { SYSTEM } else { "You are terse." });
            body["messages"] = if agent { messages(filler) } else { small_messages() };
            if agent {
                body["tools"] = (0..TOOLS).map(messages_tool).collect();
            }
        }
    }
    body["temperature"] = json!(0.2);
    if let Some(store) = store {
        body["store"] = json!(store);
    }
    if scenario.streams() {
        body["stream"] = json!(true);
        if dialect == Dialect::Chat {
            body["stream_options"] = json!({"include_usage": true});
        }
    }
    body.to_string()
}

const SYSTEM: &str = "You are a coding agent. Work in small steps, read before you write, and call one tool \
    at a time.\nReport what changed and why. Never touch files outside of the work folder.";
const QUESTION: &str = "Name the two longest rivers of Europe.";

fn small_chat() -> Value {
    json!([{"role": "system", "content": "You are terse."}, {"role": "user", "content": QUESTION}])
}

fn small_responses() -> Value {
    json!([{"role": "user", "content": [{"type": "input_text", "text": QUESTION}]}])
}

fn small_messages() -> Value {
    json!([{"role": "user", "content": [{"type": "text", "text": QUESTION}]}])
}

fn tool(number: usize) -> Value {
    json!({
        "name": format!("workspace_tool_{number:02}"),
        "description": format!("Tool {number}: reads or changes files below the work folder. Use it when the \
            plan names a file that was not read yet; it answers with the text and its line numbers, \
            or with \"not found\" and the nearest names."),
        "parameters": {"type": "object", "properties": {
            "path": {"type": "string", "description": "Path relative to the work folder, with '/' separators."},
            "pattern": {"type": "string", "description": "A regular expression such as \"fn\\s+\\w+\"."},
            "limit": {"type": "integer", "minimum": 1, "maximum": 2000, "description": "Most lines to return."},
            "mode": {"type": "string", "enum": ["read", "search", "replace", "append"]},
            "edits": {"type": "array", "items": {"type": "object", "properties": {
                "line": {"type": "integer"}, "old": {"type": "string"}, "new": {"type": "string"}},
                "required": ["line", "new"], "additionalProperties": false}},
        }, "required": ["path", "mode"], "additionalProperties": false},
    })
}

fn responses_tool(number: usize) -> Value {
    let mut tool = tool(number);
    tool["type"] = json!("function");
    tool["strict"] = json!(false);
    tool
}

fn messages_tool(number: usize) -> Value {
    let mut tool = tool(number);
    if let Some(tool) = tool.as_object_mut()
        && let Some(schema) = tool.remove("parameters")
    {
        tool.insert("input_schema".to_owned(), schema);
    }
    tool
}

fn arguments(turn: usize) -> Value {
    json!({"path": format!("src/part_{turn}.rs"), "mode": "read", "limit": 400})
}

fn tool_result(turn: usize, filler: usize) -> String {
    let mut text = format!("{{\"path\":\"src/part_{turn}.rs\",\"lines\":{filler}}}\n");
    for line in 0..filler {
        // Quotes, a tab and the line feed are escapes on the wire, as in real file contents.
        text.push_str(&format!("{line:>5}\tlet name = \"value\"; // a line of a f\n"));
    }
    text
}

fn chat_messages(filler: usize) -> Value {
    let mut messages = vec![
        json!({"role": "system", "content": SYSTEM}),
        json!({"role": "user", "content": "Find the slow part and make it faster."}),
    ];
    for turn in 0..TURNS {
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [{
            "id": format!("call_{turn:04}"), "type": "function",
            "function": {"name": format!("workspace_tool_{turn:02}"), "arguments": arguments(turn).to_string()}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": format!("call_{turn:04}"),
            "content": tool_result(turn, filler)}));
    }
    messages.into()
}

fn responses_input(filler: usize) -> Value {
    let mut input = vec![json!({"role": "user", "content": "Find the slow part and make it faster."})];
    for turn in 0..TURNS {
        input.push(json!({"type": "function_call", "call_id": format!("call_{turn:04}"),
            "name": format!("workspace_tool_{turn:02}"), "arguments": arguments(turn).to_string()}));
        input.push(json!({"type": "function_call_output", "call_id": format!("call_{turn:04}"),
            "output": tool_result(turn, filler)}));
    }
    input.into()
}

fn messages(filler: usize) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "Find the slow part and make it faster."})];
    for turn in 0..TURNS {
        let id = format!("toolu_{turn:04}");
        messages.push(json!({"role": "assistant", "content": [{"type": "tool_use", "id": id,
            "name": format!("workspace_tool_{turn:02}"), "input": arguments(turn)}]}));
        messages.push(json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id,
            "content": tool_result(turn, filler)}]}));
    }
    messages.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_bodies_are_fifty_kilobytes_with_twenty_tools() {
        for dialect in Dialect::ALL {
            let body = body(dialect, Scenario::Agent, "m", Some(false));
            assert!((48_000..52_000).contains(&body.len()), "{} bytes", body.len());
            let value: Value = serde_json::from_str(&body).unwrap();
            assert_eq!(value["tools"].as_array().unwrap().len(), TOOLS);
            assert_eq!(value["stream"], true);
            assert_eq!(value["store"], false);
        }
    }

    #[test]
    fn store_is_sent_only_when_given() {
        let value: Value = serde_json::from_str(&body(Dialect::Chat, Scenario::Plain, "m", None)).unwrap();
        assert!(value.get("store").is_none() && value.get("stream").is_none());
    }
}
