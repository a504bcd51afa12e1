//! What a client of this dialect wrote reaches an upstream of it.

use serde_json::{Value, json};

use super::{read, told, write};

pub(super) fn rich() -> Value {
    json!({
        "model": "claude-opus-4-1",
        "max_tokens": 32000,
        "system": [
            {"type": "text", "text": "a"},
            {"type": "text", "text": "b", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
        ],
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "look"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"},
                    "transformations": {"oversized_image": "error"}},
                {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
                    "title": "t", "context": "c", "citations": {"enabled": false}},
                {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "words"}, "title": "w"},
                {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "x"}]}},
                {"type": "document", "source": {"type": "file", "file_id": "file_1"}},
                {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "r"}]},
                {"type": "container_upload", "file_id": "file_2"},
            ]},
            {"role": "system", "content": "mid", "output_config": {"effort": "low"}},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "sig=="},
                {"type": "redacted_thinking", "data": "red"},
                {"type": "text", "text": "see", "citations": [{"type": "char_location", "cited_text": "x"}]},
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
                {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1",
                    "content": [{"type": "web_search_result", "encrypted_content": "e", "url": "u", "title": "t"}]},
                {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"b": 1.0, "a": 2},
                    "caller": {"type": "direct"}, "cache_control": {"type": "ephemeral"}},
                {"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": [
                    {"type": "text", "text": "one"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                    {"type": "tool_reference", "tool_name": "g"},
                ], "is_error": false},
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": "bad", "is_error": true,
                    "cache_control": {"type": "ephemeral"}},
                {"type": "text", "text": "and", "cache_control": {"type": "ephemeral", "scope": "global"}},
            ]},
        ],
        "tools": [
            {"name": "f", "description": "d", "input_schema": {"$schema": "x", "type": "object", "properties": {}},
                "strict": true, "input_examples": [{}]},
            {"name": "g", "input_schema": {"type": "object"}, "defer_loading": true},
            {"type": "bash_20250124", "name": "bash"},
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 3, "allowed_domains": ["example.com"]},
            {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"},
        ],
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": true},
        "thinking": {"type": "enabled", "budget_tokens": 2048, "display": "summarized"},
        "output_config": {"effort": "xhigh", "format": {"type": "json_schema", "schema": {"type": "object"}},
            "task_budget": {"type": "tokens", "total": 9}},
        "stop_sequences": ["a", "b"],
        "temperature": 1.0,
        "top_k": 4,
        "metadata": {"user_id": "{\"device\":1}", "more": "x"},
        "service_tier": "standard_only",
        "container": {"id": "c"},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "speed": "fast",
        "anything": [1, 2],
        "stream": true,
    })
}

/// The same but for the model's name.
fn round(body: &Value) -> Value {
    let (mut sent, encoded) = write(&read(body).unwrap()).unwrap();
    sent["model"] = body["model"].clone();
    assert_eq!(told(&encoded), []);
    sent
}

#[test]
fn a_rich_request_comes_out_as_it_came_in() {
    assert_eq!(round(&rich()), rich());
    for thinking in [
        json!({"type": "adaptive", "display": "omitted"}),
        json!({"type": "between_tools"}),
        json!({"type": "disabled"}),
    ] {
        let mut body = rich();
        body["thinking"] = thinking;
        assert_eq!(round(&body), body);
    }
}

#[test]
fn arguments_and_schemas_keep_their_spelling() {
    let body = r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant",
        "content":[{"type":"tool_use","id":"a","name":"f","input":{"b": 1.50, "a":"\u00e9"}}]},{"role":"user",
        "content":[{"type":"tool_result","tool_use_id":"a"}]}],"tools":[{"name":"f","input_schema":{"type": "object"}}]}"#;
    let turn = super::decode(&super::version("2023-06-01"), body.as_bytes()).unwrap();
    let sent = String::from_utf8(write(&turn).unwrap().1.body).unwrap();
    assert!(sent.contains(r#""input":{"b": 1.50, "a":"\u00e9"}"#), "{sent}");
    assert!(sent.contains(r#""input_schema":{"type": "object"}"#), "{sent}");
    assert!(sent.contains(r#"{"type":"tool_result","tool_use_id":"a"}"#), "{sent}");
}

/// As Claude Code 2.1 speaks, results in the order in which the tools were done.
#[test]
fn a_coding_agents_request_passes() {
    let mark = json!({"type": "ephemeral"});
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": id});
    let mut body = json!({
        "model": "claude-sonnet-5-5", "max_tokens": 64000, "stream": true,
        "system": [
            {"type": "text", "text": "x-billing"},
            {"type": "text", "text": "you", "cache_control": mark},
            {"type": "text", "text": "are", "cache_control": mark},
        ],
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "system", "content": [{"type": "text", "text": "note", "cache_control": mark}],
                "output_config": {"effort": "high"}},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "", "signature": "s"}, call("toolu_a"), call("toolu_b")]},
            {"role": "user", "content": [result("toolu_b"), {"type": "tool_result", "tool_use_id": "toolu_a",
                "content": [{"type": "tool_reference", "tool_name": "WebFetch"}], "cache_control": mark}]},
        ],
        "tools": [
            {"name": "Bash", "description": "b", "input_schema": {"$schema": "https://json-schema.org", "type": "object"}},
            {"name": "DeferredToolPlaceholder", "description": "p", "input_schema": {"type": "object"}, "defer_loading": true},
        ],
        "thinking": {"type": "adaptive", "display": "omitted"},
        "output_config": {"effort": "medium"},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "metadata": {"user_id": "{\"device_id\":\"d\"}"},
    });
    let sent = round(&body);
    // The one thing that changes: results stand in the order of the calls.
    body["messages"][3]["content"].as_array_mut().unwrap().reverse();
    assert_eq!(sent, body);
}
