//! Turns of other dialects, said in this one.

use serde_json::{Value, json};
use trilith_core::{
    CacheMark, Call, CallKind, CallResult, Carrier, CarrierKind, DialectId, Effort, Item, ItemBody, Json,
    Message, Opaque, Origin, Part, PartKind, Reasoning, ResultOutput, Role, Settings, Tool, ToolKind, Turn,
};

use super::{ALL_CAPABILITIES, Capabilities, Encoded, Error, told, write, write_for};
use crate::{Thinking, dialect};

/// A request as the client of another dialect wrote it.
fn from(id: DialectId, body: &Value) -> Turn {
    dialect(id).unwrap().decode_request(body.to_string().as_bytes()).unwrap()
}

fn responses(fields: Value) -> Turn {
    let mut body = json!({"model": "m", "input": "x"});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    from(DialectId::Responses, &body)
}

fn chat(fields: Value) -> Turn {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "x"}]});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    from(DialectId::Chat, &body)
}

fn turn(input: Vec<Item>) -> Turn {
    Turn { input, ..Turn::default() }
}

fn call(id: &str, args: &str) -> Item {
    Item::new(ItemBody::Call(Call {
        kind: CallKind::Function,
        call_id: Some(id.into()),
        name: "f".into(),
        namespace: None,
        args: args.into(),
        caller: None,
        detail: None,
    }))
}

fn result(id: &str, text: &str) -> Item {
    Item::new(ItemBody::Result(CallResult {
        kind: CallKind::Function,
        call_id: Some(id.into()),
        name: None,
        namespace: None,
        status: None,
        output: ResultOutput::Text(text.into()),
        caller: None,
        detail: None,
    }))
}

fn thought(kind: CarrierKind, data: &str, from: Option<DialectId>) -> Item {
    let origin = from.map(|dialect| {
        Origin { dialect, upstream: "u".into(), model: "m".into(), account: "a".into() }.into()
    });
    Item::new(ItemBody::Reasoning(Reasoning {
        text: vec!["h".into(), "m".into()],
        carriers: vec![Carrier { kind, data: data.into(), origin }],
        ..Reasoning::default()
    }))
}

fn sent(turn: &Turn) -> (Value, Encoded) {
    write(turn).unwrap()
}

fn refused(turn: &Turn, can: &Capabilities) -> Error {
    write_for(turn, can).unwrap_err()
}

#[test]
fn turns_alternate_and_results_come_first_in_call_order() {
    let (body, encoded) = sent(&turn(vec![
        Item::message(Role::Developer, "rules"),
        Item::message(Role::System, ""),
        Item::message(Role::Assistant, "hello"),
        Item::message(Role::User, "go"),
        Item::message(Role::User, ""),
        Item::message(Role::User, "on"),
        Item::message(Role::Assistant, "calling"),
        call("a", ""),
        call("b!", " {\"z\": 1.0} "),
        result("b!", "2"),
        Item::message(Role::User, "wait"),
        result("a", ""),
    ]));
    let odd = body["messages"][3]["content"][2]["id"].clone();
    assert!(odd.as_str().unwrap().starts_with("s_"));
    assert_eq!(
        (&body["system"], &body["messages"]),
        (
            &json!([{"type": "text", "text": "rules"}]),
            &json!([
                {"role": "user", "content": " "},
                {"role": "assistant", "content": "hello"},
                {"role": "user", "content": [{"type": "text", "text": "go"}, {"type": "text", "text": "on"}]},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "calling"},
                    {"type": "tool_use", "id": "a", "name": "f", "input": {}},
                    {"type": "tool_use", "id": odd, "name": "f", "input": {"z": 1.0}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "a"},
                    {"type": "tool_result", "tool_use_id": odd, "content": "2"},
                    {"type": "text", "text": "wait"},
                ]},
            ])
        )
    );
    assert_eq!(body["tools"], json!([{"name": "f", "input_schema": {"type": "object"}}]));
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
    assert_eq!(told(&encoded), [("input", "emulate"), ("tools", "emulate")]);
}

#[test]
fn pairs_are_whole_or_refused() {
    for input in [
        vec![call("call_1", "{}"), Item::message(Role::User, "?")],
        vec![Item::message(Role::User, "?"), result("call_1", "x")],
        vec![result("call_1", "x"), call("call_1", "{}")],
    ] {
        let error = refused(&turn(input), &ALL_CAPABILITIES);
        assert!(error.public.contains("call_1"), "{error}");
    }
    let twice =
        vec![call("a", "no json"), result("a", "1"), call("a", "{}"), result("a", "2"), result("a", "3")];
    let (body, encoded) = sent(&turn(twice));
    assert_eq!(body["messages"][1]["content"][0]["input"], json!({"_raw": "no json"}));
    assert_eq!(body["messages"][3]["content"][0]["id"], "a_2");
    assert_eq!(
        body["messages"][4]["content"],
        json!([{"type": "tool_result", "tool_use_id": "a_2", "content": "3"}])
    );
    assert!(told(&encoded).contains(&("input[4]", "warn")), "{:?}", encoded.losses);
}

#[test]
fn the_platforms_later_words_stay_in_place() {
    let it = turn(vec![
        Item::message(Role::System, "first"),
        Item::message(Role::User, "a"),
        Item::message(Role::Developer, "later"),
    ]);
    assert_eq!(
        sent(&it).0["messages"],
        json!([{"role": "user", "content": "a"}, {"role": "system", "content": "later"}])
    );
    let can = Capabilities { system_between_turns: false, ..Capabilities::default() };
    let (body, encoded) = write_for(&it, &can).unwrap();
    let marked = "<system-message>\nlater\n</system-message>";
    assert_eq!(
        body["messages"],
        json!([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": marked}]}])
    );
    assert_eq!(told(&encoded), [("input[2]", "emulate")]);
}

#[test]
fn only_a_model_that_continues_gets_a_beginning() {
    let it = turn(vec![Item::message(Role::User, "a"), Item::message(Role::Assistant, "{")]);
    assert_eq!(sent(&it).0["messages"][1], json!({"role": "assistant", "content": "{"}));
    let can = Capabilities { prefill: false, ..Capabilities::default() };
    assert!(refused(&it, &can).public.contains("does not support prefill"));
    // A long turn of server tools is sent back as it is, to be gone on with.
    let pause = Opaque {
        dialect: DialectId::Messages,
        kind: "server_tool_use".into(),
        json: Json::from_checked(r#"{"type":"server_tool_use"}"#),
    };
    let paused = turn(vec![Item::message(Role::User, "a"), Item::new(ItemBody::Opaque(pause))]);
    write_for(&paused, &can).unwrap();
    let empty = refused(&turn(Vec::new()), &can);
    assert_eq!(empty.param.as_deref(), Some("input"));
}

#[test]
fn reasoning_goes_back_only_where_it_was_made() {
    let own = Some(DialectId::Messages);
    let with = |item: Item| {
        turn(vec![
            Item::message(Role::User, "a"),
            item,
            Item::message(Role::Assistant, "b"),
            Item::message(Role::User, "c"),
        ])
    };
    for (item, first) in [
        (
            thought(CarrierKind::Signature, "s", own),
            Some(json!({"type": "thinking", "thinking": "hm", "signature": "s"})),
        ),
        (
            thought(CarrierKind::Signature, "s", None),
            Some(json!({"type": "thinking", "thinking": "hm", "signature": "s"})),
        ),
        (thought(CarrierKind::Redacted, "r", own), Some(json!({"type": "redacted_thinking", "data": "r"}))),
        (thought(CarrierKind::Signature, "s", Some(DialectId::Converse)), None),
        (thought(CarrierKind::Signature, "tl1.x", None), None),
        (thought(CarrierKind::Encrypted, "e", Some(DialectId::Responses)), None),
    ] {
        let (body, encoded) = sent(&with(item));
        let message = &body["messages"][1]["content"];
        match first {
            Some(block) => assert_eq!((&message[0], told(&encoded)), (&block, vec![])),
            None => assert_eq!((message, told(&encoded)), (&json!("b"), vec![("input[1]", "warn")])),
        }
    }
}

#[test]
fn settings_are_said_in_this_wires_words() {
    let none: Vec<(&str, &str)> = vec![];
    for (it, name, value, losses) in [
        (chat(json!({})), "max_tokens", json!(4096), none.clone()),
        (chat(json!({"max_completion_tokens": 7})), "max_tokens", json!(7), none.clone()),
        (chat(json!({"temperature": 1.5})), "temperature", json!(1.0), vec![("temperature", "warn")]),
        (chat(json!({"stop": ["a", "", "b"]})), "stop_sequences", json!(["a", "b"]), none.clone()),
        (chat(json!({"top_k": 3})), "top_k", json!(3), none.clone()),
        (
            chat(json!({"seed": 1, "presence_penalty": 0.5})),
            "seed",
            Value::Null,
            vec![("presence_penalty", "warn"), ("seed", "warn")],
        ),
        (chat(json!({"user": "u"})), "metadata", json!({"user_id": "u"}), none.clone()),
        (chat(json!({"service_tier": "flex"})), "service_tier", Value::Null, vec![("service_tier", "warn")]),
        (chat(json!({"service_tier": "default"})), "service_tier", json!("standard_only"), none.clone()),
        (
            chat(json!({"prompt_cache_key": "k"})),
            "prompt_cache_key",
            Value::Null,
            vec![("prompt_cache_key", "hint")],
        ),
        (chat(json!({"verbosity": "low"})), "verbosity", Value::Null, vec![("text.verbosity", "warn")]),
        (chat(json!({"logit_bias": {}})), "logit_bias", Value::Null, none.clone()),
        (chat(json!({"whatever": 1})), "whatever", Value::Null, vec![("whatever", "warn")]),
        (
            chat(json!({"response_format": {"type": "json_object"}})),
            "output_config",
            Value::Null,
            vec![("text.format", "warn")],
        ),
        (
            chat(
                json!({"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}}}}}),
            ),
            "output_config",
            json!({"format": {"type": "json_schema", "schema": {
                "properties": {"a": {"type": "integer", "description": "{minimum: 1}"}},
                "additionalProperties": false, "type": "object",
            }}}),
            vec![("text.format.schema", "emulate")],
        ),
        (
            chat(json!({"reasoning_effort": "minimal"})),
            "output_config",
            json!({"effort": "low"}),
            vec![("reasoning.effort", "warn")],
        ),
        (chat(json!({"reasoning_effort": "none"})), "thinking", json!({"type": "disabled"}), none.clone()),
        (
            responses(json!({"reasoning": {"effort": "high", "summary": "auto"}})),
            "thinking",
            json!({"type": "adaptive", "display": "summarized"}),
            none.clone(),
        ),
    ] {
        let (body, encoded) = sent(&it);
        assert_eq!((body.get(name).unwrap_or(&Value::Null), told(&encoded)), (&value, losses), "{name}");
    }
}

#[test]
fn what_would_change_the_answer_is_refused_by_name() {
    let all = &ALL_CAPABILITIES;
    let tool = json!([{"type": "function", "function": {"name": "f"}}]);
    let forced = || chat(json!({"tools": tool, "tool_choice": "required"}));
    let unforced = Capabilities { forced_tool_choice: false, ..Capabilities::default() };
    let blind = Capabilities { image_types: (&[]).into(), ..Capabilities::default() };
    let parts = |part: Value| chat(json!({"messages": [{"role": "user", "content": [part]}]}));
    for (it, can, param) in [
        (chat(json!({"n": 2})), all, "n"),
        (chat(json!({"logprobs": true})), all, "logprobs"),
        (chat(json!({"logit_bias": {"1": 2}})), all, "logit_bias"),
        (chat(json!({"stop": "\n"})), all, "stop"),
        (forced(), &unforced, "tool_choice"),
        (responses(json!({"prompt": {"id": "p"}})), all, "prompt"),
        (responses(json!({"tools": [{"type": "file_search", "vector_store_ids": ["v"]}]})), all, "tools[0]"),
        (
            parts(json!({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}})),
            all,
            "input[0].content[0]",
        ),
        (parts(json!({"type": "file", "file": {"file_id": "file-1"}})), all, "input[0].content[0]"),
        (
            parts(json!({"type": "image_url", "image_url": {"url": "data:image/heic;base64,AAAA"}})),
            all,
            "input[0].content[0]",
        ),
        (
            parts(json!({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}})),
            &blind,
            "input[0].content[0]",
        ),
    ] {
        assert_eq!(refused(&it, can).param.as_deref(), Some(param));
    }
}

#[test]
fn each_model_is_asked_to_think_in_its_way() {
    let asked = |effort: &str, most: Option<u64>| {
        let mut body = json!({"reasoning": {"effort": effort}});
        if let Some(most) = most {
            body["max_output_tokens"] = json!(most);
        }
        responses(body)
    };
    let budget =
        Capabilities { thinking: Thinking::Budget, efforts: (&[]).into(), ..Capabilities::default() };
    let always = Capabilities {
        thinking: Thinking::Always,
        efforts: vec![Effort::Low, Effort::High].into(),
        ..Capabilities::default()
    };
    let never = Capabilities { thinking: Thinking::No, efforts: (&[]).into(), ..Capabilities::default() };
    let enabled = |tokens: u64| json!({"type": "enabled", "budget_tokens": tokens});
    for (it, can, thinking, config, warned) in [
        (asked("low", Some(9000)), &budget, enabled(1024), Value::Null, false),
        (asked("medium", Some(9000)), &budget, enabled(8192), Value::Null, false),
        (asked("xhigh", Some(9000)), &budget, enabled(8999), Value::Null, true),
        (asked("high", Some(1000)), &budget, Value::Null, Value::Null, true),
        (asked("none", None), &budget, json!({"type": "disabled"}), Value::Null, false),
        (asked("max", None), &always, Value::Null, json!({"effort": "high"}), true),
        (asked("none", None), &always, Value::Null, Value::Null, true),
        (asked("high", None), &never, Value::Null, Value::Null, true),
        (asked("none", None), &never, Value::Null, Value::Null, false),
        (asked("max", None), &ALL_CAPABILITIES, json!({"type": "adaptive"}), json!({"effort": "max"}), false),
    ] {
        let (body, encoded) = write_for(&it, can).unwrap();
        assert_eq!((&body["thinking"], &body["output_config"]), (&thinking, &config), "{it:?}");
        assert_eq!(!encoded.losses.is_empty(), warned, "{:?}", encoded.losses);
    }
    // A turn whose calls came without thinking cannot be continued by a model that must begin with it.
    let mut it = asked("low", Some(9000));
    it.input.extend([call("a", "{}"), result("a", "1")]);
    let (body, encoded) = write_for(&it, &budget).unwrap();
    assert_eq!((body.get("thinking"), told(&encoded)[1]), (None, ("reasoning", "warn")));
    // Sampling settings do not stand beside thinking, nor beside each other on some models, nor at all on others.
    let it = chat(json!({"temperature": 0.5, "top_p": 0.9}));
    let one = Capabilities { temperature_with_top_p: false, ..Capabilities::default() };
    let (body, encoded) = write_for(&it, &one).unwrap();
    assert_eq!(
        (&body["temperature"], body.get("top_p"), told(&encoded)),
        (&json!(0.5), None, vec![("top_p", "warn")])
    );
    let none = Capabilities { sampling: false, ..Capabilities::default() };
    let (body, encoded) = write_for(&it, &none).unwrap();
    assert_eq!((body.get("temperature"), encoded.losses.len()), (None, 2));
    assert_eq!(write_for(&chat(json!({"temperature": 1})), &none).unwrap().1.losses, []);
}

#[test]
fn tools_and_choices_are_translated() {
    let function = |name: &str| json!({"type": "function", "name": name, "parameters": {"type": "object"}, "strict": false});
    let it = responses(json!({
        "tools": [
            function("f"),
            {"type": "function", "name": "bare", "parameters": {"properties": {}}},
            {"type": "namespace", "name": "crm", "description": "d", "tools": [function("find")]},
            {"type": "custom", "name": "patch"},
            {"type": "web_search", "filters": {"allowed_domains": ["a.example"]}, "external_web_access": true},
            {"type": "code_interpreter", "container": {"type": "auto"}},
        ],
        "tool_choice": {"type": "function", "name": "find"},
        "parallel_tool_calls": false,
    }));
    let (body, encoded) = sent(&it);
    let tools = &body["tools"];
    assert_eq!(tools[1]["input_schema"], json!({"type": "object", "properties": {}}));
    assert_eq!(tools[2]["name"], "crm__find");
    assert_eq!(tools[3]["input_schema"]["required"], json!(["input"]));
    assert!(encoded.names.wrapping("patch").is_some());
    assert_eq!(encoded.names.inward("crm__find").namespace.as_deref(), Some("crm"));
    assert_eq!(
        tools[4],
        json!({"type": "web_search_20250305", "name": "web_search", "allowed_domains": ["a.example"]})
    );
    assert_eq!(tools[5], json!({"type": "code_execution_20250825", "name": "code_execution"}));
    assert_eq!(
        body["tool_choice"],
        json!({"type": "tool", "name": "crm__find", "disable_parallel_tool_use": true})
    );
    assert!(told(&encoded).contains(&("tools[4].external_web_access", "warn")));
    for (choice, kind, count) in [
        (json!("none"), "none", 2),
        (json!("required"), "any", 2),
        (
            json!({"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "g"}]}),
            "any",
            1,
        ),
    ] {
        let it = responses(json!({"tools": [function("f"), function("g")], "tool_choice": choice}));
        let (body, _) = sent(&it);
        assert_eq!(
            (&body["tool_choice"]["type"], body["tools"].as_array().unwrap().len()),
            (&json!(kind), count)
        );
    }
}

#[test]
fn no_more_cache_marks_than_the_wire_takes() {
    let marked = |text: &str| {
        let mut part = Part::text(text);
        part.cache_mark = Some(CacheMark::M30);
        let message = Message { role: Role::User, parts: vec![part], phase: None, name: None };
        Item::new(ItemBody::Message(message))
    };
    let mut tool =
        Tool::new(ToolKind::Function { name: "f".into(), description: None, parameters: None, strict: None });
    tool.cache_mark = Some(CacheMark::H12);
    let mut it = turn(vec![marked("1"), marked("2"), marked("3"), marked("4")]);
    it.settings = Settings { tools: vec![tool], ..Settings::default() }.into();
    let (body, encoded) = sent(&it);
    assert_eq!(body["tools"][0]["cache_control"], json!({"type": "ephemeral", "ttl": "1h"}));
    let kept: Vec<bool> = body["messages"][0]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|b| b.get("cache_control").is_some())
        .collect();
    assert_eq!(kept, [false, true, true, true]);
    assert_eq!(told(&encoded), [("input[0].content[0]", "hint")]);
}

#[test]
fn content_of_other_dialects_finds_its_block() {
    let data = |mime: &str, data: &str| format!("data:{mime};base64,{data}");
    let it = responses(json!({"input": [
        {"role": "user", "content": [
            {"type": "input_image", "image_url": data("image/png", "AAAA"), "detail": "high"},
            {"type": "input_file", "file_data": data("application/pdf", "JVBERi0="), "filename": "a.pdf"},
            {"type": "input_file", "file_data": data("text/plain", "TWE="), "filename": "a.txt"},
            {"type": "input_file", "file_url": "https://example.com/a.pdf"},
        ]},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": [
            {"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": "https://example.com/a.png"}]},
    ]}));
    let (body, encoded) = sent(&it);
    assert_eq!(
        body["messages"][0]["content"],
        json!([
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}, "title": "a.pdf"},
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Ma"}, "title": "a.txt"},
            {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}},
        ])
    );
    assert_eq!(
        body["messages"][2]["content"][0]["content"],
        json!([{"type": "text", "text": "see"}, {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}])
    );
    assert!(told(&encoded).contains(&("input[0].content[0].detail", "warn")));
    let foreign = Part::new(PartKind::Opaque { dialect: DialectId::Gemini, json: Json::from_checked("{}") });
    let message = Message { role: Role::User, parts: vec![foreign], phase: None, name: None };
    refused(&turn(vec![Item::new(ItemBody::Message(message))]), &ALL_CAPABILITIES);
}

/// As Codex speaks: tools as an item, calls of custom tools in a group, sealed reasoning.
#[test]
fn a_coding_agents_responses_request_is_said_here() {
    let it = from(
        DialectId::Responses,
        &json!({
            "model": "m", "stream": true, "store": false, "include": ["reasoning.encrypted_content"],
            "parallel_tool_calls": false, "tool_choice": "auto", "prompt_cache_key": "k",
            "reasoning": {"effort": "medium", "summary": "auto", "context": "all_turns"},
            "client_metadata": {"session_id": "s"},
            "input": [
                {"type": "additional_tools", "id": "at_1", "role": "developer", "tools": [
                    {"type": "namespace", "name": "functions", "description": "d", "tools": [{"type": "custom", "name": "exec"}]}]},
                {"type": "message", "id": "msg_1", "role": "developer", "content": [{"type": "input_text", "text": "be"}]},
                {"type": "message", "id": "msg_2", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "tl1.x"},
                {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "exec", "namespace": "functions", "input": "ls"},
                {"type": "custom_tool_call_output", "id": "ctco_1", "call_id": "call_1", "output": "a"},
            ],
        }),
    );
    let (body, encoded) = sent(&it);
    assert_eq!(body["system"], json!([{"type": "text", "text": "be"}]));
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "call_1", "name": "functions__exec", "input": {"input": "ls"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "a"}]},
        ])
    );
    assert_eq!(body["tools"][0]["name"], "functions__exec");
    assert_eq!(body["tool_choice"], json!({"type": "auto", "disable_parallel_tool_use": true}));
    assert_eq!(body["thinking"], json!({"type": "adaptive", "display": "summarized"}));
    assert_eq!((&body["stream"], &body["max_tokens"]), (&json!(true), &json!(4096)));
    let warned: Vec<&str> =
        told(&encoded).iter().filter(|(_, how)| *how == "warn").map(|(path, _)| *path).collect();
    assert_eq!(warned, ["input[3]", "reasoning.context", "client_metadata"]);
}

#[test]
fn citations_and_a_schema_are_refused_together() {
    let ask = |enabled: bool, format: bool| {
        let mut body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": [
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a"},
             "citations": {"enabled": enabled}},
        ]}]});
        if format {
            body["output_config"] = json!({"format": {"type": "json_schema", "schema": {"type": "object"}}});
        }
        super::read(&body).unwrap()
    };
    assert_eq!(refused(&ask(true, true), &ALL_CAPABILITIES).param.as_deref(), Some("text.format"));
    for (enabled, format) in [(true, false), (false, true)] {
        assert!(write(&ask(enabled, format)).is_ok());
    }
}
