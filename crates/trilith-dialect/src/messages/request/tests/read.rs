//! What a request of this dialect says, and what is refused.

use serde_json::{Value, json};
use trilith_core::{
    AnnotationKind, CacheMark, CarrierKind, DialectId, Effort, HostedTool, Instructions, ItemBody, PartKind,
    ResultOutput, ResultStatus, Role, ToolChoice, ToolKind, ToolRef,
};

use super::{decode, read, read_as, version};

fn plain() -> Value {
    json!({"model": "m", "max_tokens": 10, "messages": [{"role": "user", "content": "x"}]})
}

fn with(name: &str, value: Value) -> Value {
    let mut body = plain();
    body[name] = value;
    body
}

fn said(messages: Value) -> Value {
    with("messages", messages)
}

#[test]
fn blocks_become_items_in_their_order() {
    let turn = read(&said(json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "", "signature": "s"},
            {"type": "text", "text": "a"},
            {"type": "text", "text": "b", "citations": [{"type": "page_location"}]},
            {"type": "tool_use", "id": "t1", "name": "f", "input": {}},
            {"type": "mcp_tool_use", "id": "m", "server_name": "s"},
        ]},
        {"role": "user", "content": [
            {"type": "text", "text": "before"},
            {"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": [{"type": "tool_reference", "tool_name": "g"}]},
            {"type": "text", "text": "after", "cache_control": {"type": "ephemeral"}},
        ]},
    ])))
    .unwrap();
    let kinds: Vec<String> = turn
        .input
        .iter()
        .map(|item| match &item.body {
            ItemBody::Message(message) => format!("{} {}", message.role.name(), message.parts.len()),
            ItemBody::Reasoning(reasoning) => {
                assert_eq!((reasoning.text.len(), reasoning.carriers[0].kind), (0, CarrierKind::Signature));
                "reasoning".into()
            }
            ItemBody::Call(call) => call.args.clone(),
            ItemBody::Opaque(opaque) => opaque.kind.to_string(),
            ItemBody::Result(result) => {
                assert_eq!(result.status, Some(ResultStatus::Error));
                let ResultOutput::Parts(parts) = &result.output else { panic!("{result:?}") };
                assert_eq!(parts[0].as_text(), Some("The tool 'g' can be called now."));
                "result".into()
            }
            body => panic!("{body:?}"),
        })
        .collect();
    assert_eq!(
        kinds,
        ["user 1", "reasoning", "assistant 2", "{}", "mcp_tool_use", "user 1", "result", "user 1"]
    );
    let ItemBody::Message(message) = &turn.input[2].body else { panic!() };
    let PartKind::Text(text) = &message.parts[1].kind else { panic!() };
    assert!(matches!(text.annotations[0].kind, AnnotationKind::Opaque { dialect: DialectId::Messages, .. }));
    let ItemBody::Message(message) = &turn.input[7].body else { panic!() };
    assert_eq!(message.parts[0].cache_mark, Some(CacheMark::M5));
    assert_eq!(turn.state.store, Some(false));
}

#[test]
fn settings_find_their_places() {
    let mut body = plain();
    body["system"] =
        json!([{"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]);
    body["thinking"] = json!({"type": "enabled", "budget_tokens": 1024, "display": "summarized"});
    body["max_tokens"] = json!(2000);
    body["output_config"] = json!({"effort": "max"});
    body["metadata"] = json!({"user_id": "u"});
    body["tools"] = json!([
        {"name": "f", "input_schema": {"type": "object"}},
        {"type": "custom", "name": "g", "input_schema": {"type": "object", "properties": {}, "additionalProperties": false}, "strict": true},
        {"type": "memory_20250818", "name": "memory"},
        {"type": "code_execution_20260521", "name": "code_execution"},
        {"type": "web_fetch_20260209", "name": "web_fetch", "allowed_domains": ["a"], "blocked_domains": []},
    ]);
    body["tool_choice"] = json!({"type": "tool", "name": "web_fetch", "disable_parallel_tool_use": true});
    let turn = read(&body).unwrap();
    let settings = &turn.settings;
    let Some(Instructions::Items(items)) = &settings.instructions else { panic!() };
    let ItemBody::Message(message) = &items[0].body else { panic!() };
    assert_eq!((message.role, message.parts[0].cache_mark), (Role::System, Some(CacheMark::H1)));
    let reasoning = &settings.reasoning;
    assert_eq!(
        (reasoning.effort, reasoning.budget_tokens, reasoning.summary.as_deref()),
        (Some(Effort::Max), Some(1024), Some("auto"))
    );
    assert_eq!(settings.safety_identifier.as_deref(), Some("u"));
    assert_eq!(settings.parallel_tool_calls, Some(false));
    let Some(ToolChoice::Tool(ToolRef::Hosted(HostedTool::WebSearch, _))) = settings.tool_choice else {
        panic!("{:?}", settings.tool_choice)
    };
    let stricts: Vec<_> = settings
        .tools
        .iter()
        .map(|tool| match &tool.kind {
            ToolKind::Function { name, strict, .. } => format!("{name} {strict:?}"),
            ToolKind::Hosted { config, .. } => config.as_str().to_owned(),
            kind => panic!("{kind:?}"),
        })
        .collect();
    assert_eq!(
        stricts,
        [
            "f Some(false)",
            "g Some(true)",
            "memory Some(false)",
            r#"{"type":"code_interpreter","container":{"type":"auto"}}"#,
            r#"{"type":"web_search","filters":{"allowed_domains":["a"]}}"#,
        ]
    );
    assert_eq!(
        read(&with("thinking", json!({"type": "disabled"}))).unwrap().settings.reasoning.effort,
        Some(Effort::None)
    );
    assert_eq!(read(&with("max_tokens", json!(0))).unwrap().settings.limits.max_output_tokens, Some(0));
    assert_eq!(read(&with("tool_choice", json!({"type": "any"}))).unwrap().settings.tool_choice, None);
}

#[test]
fn what_is_wrong_is_named_as_this_wire_names_it() {
    let call =
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]});
    let result = |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "r"}]});
    let user = |block: Value| said(json!([{"role": "user", "content": [block]}]));
    let assistant = |block: Value| {
        said(json!([{"role": "user", "content": "x"}, {"role": "assistant", "content": [block]}]))
    };
    for (body, param) in [
        (json!({"max_tokens": 1, "messages": []}), "messages"),
        (json!({"max_tokens": 1, "messages": [{"role": "user", "content": "x"}]}), "model"),
        (json!({"model": "m", "messages": [{"role": "user", "content": "x"}]}), "max_tokens"),
        (with("max_tokens", json!("9")), "max_tokens"),
        (with("max_tokens", json!(-1)), "max_tokens"),
        (with("temperature", json!(1.5)), "temperature"),
        (with("top_p", json!(-0.1)), "top_p"),
        (with("thread", json!({"type": "create"})), "thread"),
        (with("service_tier", json!("flex")), "service_tier"),
        (with("thinking", json!({"type": "enabled", "budget_tokens": 100})), "thinking.budget_tokens"),
        (with("thinking", json!({"type": "enabled", "budget_tokens": 1024})), "max_tokens"),
        (with("thinking", json!({"type": "loud"})), "thinking.type"),
        (with("output_config", json!({"effort": "minimal"})), "output_config.effort"),
        (with("output_config", json!({"format": {"type": "text"}})), "output_config.format.type"),
        (with("tools", json!([{"name": "f"}])), "tools.0.input_schema"),
        (with("tools", json!([{"name": "a b", "input_schema": {}}])), "tools.0.name"),
        (with("tools", json!([{"type": "computer_toolset_20260801"}])), "tools.0.type"),
        (
            with("tools", json!([{"name": "f", "input_schema": {}, "cache_control": {"type": "x"}}])),
            "tools.0.cache_control.type",
        ),
        (with("tool_choice", json!({"type": "maybe"})), "tool_choice.type"),
        (said(json!([{"role": "tool", "content": "x"}])), "messages.0.role"),
        (said(json!([{"role": "user"}])), "messages.0.content"),
        (said(json!([{"role": "user", "content": []}])), "messages.0"),
        (said(json!([{"role": "user", "content": 3}])), "messages.0.content"),
        (user(json!({"text": "x"})), "messages.0.content.0.type"),
        (user(json!({"type": "text"})), "messages.0.content.0.text"),
        (user(json!({"type": "text", "text": 1})), "messages.0.content.0.text"),
        (
            user(json!({"type": "image", "source": {"type": "base64", "data": "A"}})),
            "messages.0.content.0.source.media_type",
        ),
        (
            user(json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": "2h"}})),
            "messages.0.content.0.cache_control.ttl",
        ),
        (user(json!({"type": "tool_use", "id": "a", "name": "f", "input": {}})), "messages.0.content.0.type"),
        (
            assistant(json!({"type": "tool_use", "id": "a:b", "name": "f", "input": {}})),
            "messages.1.content.0.id",
        ),
        (
            assistant(json!({"type": "tool_use", "id": "a", "name": "f", "input": []})),
            "messages.1.content.0.input",
        ),
        (said(json!([result("t1")])), "messages.0.content.0.tool_use_id"),
        (said(json!([call, result("t2")])), "messages.1.content.0.tool_use_id"),
        (
            said(json!([call, {"role": "user", "content": "no"}, {"role": "assistant", "content": "x"}])),
            "messages.1",
        ),
    ] {
        let error = read(&body).unwrap_err();
        assert_eq!(error.param.as_deref(), Some(param), "{body} {error}");
        assert!(error.public.starts_with(param), "{error}");
    }
    let error = read(&said(json!([call, result("t2")]))).unwrap_err();
    assert!(error.public.contains("t2"), "{error}");
    let error = read(&with("thread", json!({"type": "create"}))).unwrap_err();
    assert_eq!(error.code.as_deref(), Some("thread_unsupported_request"));
    for body in
        ["", "[]", "{", r#"{"messages":"\ud800"}"#, r#"{"model":"\ud800","max_tokens":1,"messages":[]}"#]
    {
        decode(&version("2023-06-01"), body.as_bytes()).unwrap_err();
    }
}

#[test]
fn each_version_has_its_own_rules() {
    for (headers, why) in [
        (Vec::new(), "anthropic-version: header is required"),
        (version("2024-01-01"), "anthropic-version: '2024-01-01' is not a known version"),
    ] {
        let error = decode(&headers, plain().to_string().as_bytes()).unwrap_err();
        assert_eq!((&*error.public, error.param.as_deref()), (why, Some("anthropic-version")));
    }
    let cited = json!({"type": "text", "text": "x", "citations": [{}]});
    for (body, param) in [
        (with("temperature", json!(1)), "temperature"),
        (with("top_p", json!(1)), "top_p"),
        (with("top_k", json!(1)), "top_k"),
        (said(json!([{"role": "user", "content": [cited]}])), "messages.0.content.0.citations"),
        (
            said(
                json!([{"role": "user", "content": [{"type": "search_result", "source": "s", "title": "t", "content": [cited]}]}]),
            ),
            "messages.0.content.0.content.0.citations",
        ),
        (
            said(
                json!([{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "document", "source": {}}]}]),
            ),
            "messages.1.content.0",
        ),
    ] {
        assert_eq!(read_as("2026-10-21", &body).unwrap_err().param.as_deref(), Some(param), "{body}");
        read_as("2023-06-01", &body).unwrap();
        read_as("2023-01-01", &body).unwrap();
    }
    let error = read_as("2026-10-21", &with("temperature", json!(1))).unwrap_err();
    assert_eq!(error.public, "temperature: Extra inputs are not permitted");
}

/// Every place of a value, as a JSON pointer.
fn places(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_owned());
    match value {
        Value::Array(list) => {
            for (place, value) in list.iter().enumerate() {
                places(value, &format!("{at}/{place}"), out);
            }
        }
        Value::Object(members) => {
            for (name, value) in members {
                places(value, &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), out);
            }
        }
        _ => {}
    }
}

#[test]
fn a_wrong_value_anywhere_is_taken_or_refused_by_its_field() {
    let whole = super::identity::rich();
    let mut all = Vec::new();
    places(&whole, "", &mut all);
    for place in all {
        for wrong in [json!(null), json!(-1.5), json!("x"), json!([{"type": 7}])] {
            let mut body = whole.clone();
            *body.pointer_mut(&place).unwrap() = wrong;
            match read(&body) {
                Ok(turn) => {
                    super::write(&turn).ok();
                }
                Err(error) => {
                    let param = error.param.as_deref().unwrap_or_default();
                    assert!(
                        !param.contains('[') && (place.is_empty() || !param.is_empty()),
                        "{place} {error}"
                    );
                }
            }
        }
    }
}
