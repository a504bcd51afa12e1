//! Turns of other dialects, said in this one.

use serde_json::{Value, json};
use trilith_core::{
    Call, CallKind, CallResult, Carrier, CarrierKind, Error, HostedTool, Image, Item, ItemBody, Json,
    MediaSource, Part, PartKind, Reasoning, ResultOutput, ResultStatus, Role, Settings, Tool, ToolChoice,
    ToolKind, ToolRef, Turn,
};

use crate::{ALL_CAPABILITIES, Dialect, Encoded, Quirks, Target, chat::Chat};

fn encode(turn: &Turn, quirks: &Quirks) -> Result<(Value, Encoded), Error> {
    let encoded =
        Chat.encode_request(turn, &Target { model: "up", stream: false, quirks, can: &ALL_CAPABILITIES })?;
    Ok((serde_json::from_slice(&encoded.body).unwrap(), encoded))
}

fn call(id: &str, name: &str, namespace: Option<&str>) -> Item {
    Item::new(ItemBody::Call(Call {
        kind: CallKind::Function,
        call_id: Some(id.into()),
        name: name.into(),
        namespace: namespace.map(Into::into),
        args: "{}".into(),
        caller: None,
        detail: None,
    }))
}

fn result(id: &str, output: ResultOutput, status: Option<ResultStatus>) -> Item {
    Item::new(ItemBody::Result(CallResult {
        kind: CallKind::Function,
        call_id: Some(id.into()),
        name: None,
        namespace: None,
        status,
        output,
        caller: None,
        detail: None,
    }))
}

fn said(text: &str) -> ResultOutput {
    ResultOutput::Text(text.into())
}

fn thought(text: &str) -> Item {
    Item::new(ItemBody::Reasoning(Reasoning {
        text: vec![text.into()],
        carriers: vec![Carrier { kind: CarrierKind::Encrypted, data: "abc".into(), origin: None }],
        ..Reasoning::default()
    }))
}

fn function(name: &str) -> Tool {
    Tool::new(ToolKind::Function { name: name.into(), description: None, parameters: None, strict: None })
}

fn turn(input: Vec<Item>, tools: Vec<Tool>) -> Turn {
    Turn { input, settings: Settings { tools, ..Settings::default() }.into(), ..Turn::default() }
}

#[test]
fn an_assistant_turn_becomes_one_message_and_its_results_follow_in_call_order() {
    let input = vec![
        Item::message(Role::User, "go"),
        thought("hm"),
        Item::message(Role::Assistant, "calling"),
        call("a", "f", None),
        call("b", "f", None),
        result("b", said("2"), None),
        Item::message(Role::User, "wait"),
        result("a", said("no"), Some(ResultStatus::Error)),
    ];
    let (sent, encoded) = encode(&turn(input, vec![function("f")]), &Quirks::default()).unwrap();
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
    assert_eq!(
        sent["messages"],
        json!([
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": "calling", "tool_calls": [call("a"), call("b")]},
            {"role": "tool", "tool_call_id": "a", "content": "[the tool failed]\nno"},
            {"role": "tool", "tool_call_id": "b", "content": "2"},
            {"role": "user", "content": "wait"},
        ])
    );
    let told: Vec<&str> = encoded.losses.iter().map(|loss| loss.disposition.name()).collect();
    assert_eq!(told, ["warn"], "a dropped carrier is never silent");
}

#[test]
fn earlier_reasoning_goes_back_where_the_upstream_wants_it() {
    let input = vec![
        thought("hm"),
        call("a", "f", None),
        result("a", said("1"), None),
        Item::message(Role::Assistant, "x"),
    ];
    let quirks = Quirks { replay_reasoning: true, ..Quirks::default() };
    let (sent, _) = encode(&turn(input, Vec::new()), &quirks).unwrap();
    assert_eq!(sent["messages"][0]["reasoning_content"], "hm");
    assert_eq!(sent["messages"][0].get("reasoning_details"), None, "a foreign carrier never leaves");
    assert_eq!(sent["messages"][2]["reasoning_content"], " ");
}

#[test]
fn orphans_are_refused_by_their_id() {
    let lonely = vec![call("call_x", "f", None), Item::message(Role::User, "?")];
    let error = encode(&turn(lonely, Vec::new()), &Quirks::default()).unwrap_err();
    assert_eq!(error.public, "No tool output found for function call call_x.");
    let late = vec![result("call_y", said("1"), None), call("call_y", "f", None)];
    let error = encode(&turn(late, Vec::new()), &Quirks::default()).unwrap_err();
    assert!(error.public.contains("call_y"));
}

#[test]
fn an_id_used_twice_is_two_pairs() {
    let input = vec![
        call("a", "f", None),
        result("a", said("1"), None),
        call("a", "f", None),
        result("a", said("2"), None),
    ];
    let (sent, _) = encode(&turn(input, Vec::new()), &Quirks::default()).unwrap();
    let ids: Vec<&Value> = [0, 2].iter().map(|at| &sent["messages"][*at]["tool_calls"][0]["id"]).collect();
    assert_eq!(ids, ["a", "a_2"]);
    assert_eq!(sent["messages"][3], json!({"role": "tool", "tool_call_id": "a_2", "content": "2"}));
}

#[test]
fn images_of_results_follow_the_last_result() {
    let image = Part::new(PartKind::Image(Image {
        source: MediaSource::Url("https://x/y.png".into()),
        detail: None,
    }));
    let output = ResultOutput::Parts(vec![Part::text("see"), image]);
    let input = vec![
        call("a", "f", None),
        call("b", "f", None),
        result("a", output, None),
        result("b", said("2"), None),
    ];
    let (sent, encoded) = encode(&turn(input, Vec::new()), &Quirks::default()).unwrap();
    assert_eq!(sent["messages"][1]["content"][1], json!({"type": "text", "text": "[image 1 attached]"}));
    assert_eq!(sent["messages"][2]["role"], "tool");
    assert_eq!(
        sent["messages"][3],
        json!({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x/y.png"}}]})
    );
    assert_eq!(encoded.losses[0].disposition.name(), "emulate");
}

#[test]
fn namespaces_are_flattened_reversibly_everywhere() {
    let space =
        Tool::new(ToolKind::Namespace { name: "ns".into(), description: None, tools: vec![function("run")] });
    let mut it = turn(
        vec![call("a", "run", Some("ns")), result("a", said("1"), None)],
        vec![function("ns__run"), space, function("run it")],
    );
    it.settings = Settings {
        tool_choice: Some(ToolChoice::Tool(ToolRef::Function("run".into()))),
        ..(*it.settings).clone()
    }
    .into();
    let (sent, encoded) = encode(&it, &Quirks::default()).unwrap();
    let names: Vec<&str> = sent["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names[1], "ns__run");
    assert_ne!(names[0], names[1], "a plain tool of the joined name stays apart");
    assert_eq!(sent["messages"][0]["tool_calls"][0]["function"]["name"], "ns__run");
    assert_eq!(sent["tool_choice"]["function"]["name"], "ns__run");
    let back: Vec<_> = names.iter().map(|name| encoded.names.inward(name)).collect();
    assert_eq!((back[0].namespace.as_deref(), &*back[0].name), (None, "ns__run"));
    assert_eq!((back[1].namespace.as_deref(), &*back[1].name), (Some("ns"), "run"));
    assert_eq!(&*back[2].name, "run it");
}

#[test]
fn custom_tools_become_functions_where_nothing_else_is_known() {
    let custom = Tool::new(ToolKind::Custom {
        name: "exec".into(),
        description: Some("Runs it.".into()),
        format: Some(trilith_core::CustomFormat::Grammar {
            syntax: trilith_core::GrammarSyntax::Lark,
            definition: "start: X".into(),
        }),
    });
    let mut called = call("a", "exec", None);
    if let ItemBody::Call(call) = &mut called.body {
        call.kind = trilith_core::CallKind::Custom;
        call.args = "ls \"x\"".into();
    }
    let mut it = turn(vec![called, result("a", said("1"), None)], vec![custom]);
    it.settings = Settings {
        tool_choice: Some(ToolChoice::Tool(ToolRef::Custom("exec".into()))),
        ..(*it.settings).clone()
    }
    .into();
    let quirks = Quirks { custom_tools: false, ..Quirks::default() };
    let (sent, encoded) = encode(&it, &quirks).unwrap();
    let function = &sent["tools"][0]["function"];
    assert_eq!(function["description"], "Runs it.\n\nThe input must match this grammar (lark):\nstart: X");
    assert_eq!(function["parameters"]["required"], json!(["input"]));
    assert_eq!(sent["tool_choice"], json!({"type": "function", "function": {"name": "exec"}}));
    let sent = &sent["messages"][0]["tool_calls"][0];
    assert_eq!(sent["function"]["arguments"], json!({"input": "ls \"x\""}).to_string());
    let told: Vec<&str> = encoded.losses.iter().map(|loss| loss.disposition.name()).collect();
    assert_eq!(told, ["warn", "emulate"]);

    let chunk = |arguments: &str| {
        json!({"id": "x", "choices": [{"index": 0, "delta": {"tool_calls": [
            {"index": 0, "id": "c", "function": {"name": "exec", "arguments": arguments}}]}}]})
    };
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    let mut stream = String::new();
    for chunk in [chunk("{\"inp"), chunk("ut\":\"a\\nb"), chunk("\"}"), end] {
        stream.push_str(&format!("data: {chunk}\n\n"));
    }
    let mut events = Vec::new();
    let mut reader = crate::Dialect::reader(&crate::chat::Chat, encoded.names);
    reader.push(stream.as_bytes(), &mut events).unwrap();
    reader.finish(&mut events).unwrap();
    let response = super::fold(events);
    let ItemBody::Call(call) = &response.output[0].item.body else { panic!() };
    assert_eq!((call.kind, call.args.as_str()), (trilith_core::CallKind::Custom, "a\nb"));
}

#[test]
fn what_cannot_be_said_is_refused_by_name() {
    let hosted =
        Tool::new(ToolKind::Hosted { tool: HostedTool::WebSearch, config: Json::from_checked("{}") });
    let quirks = Quirks { custom_tools: false, ..Quirks::default() };
    let error = encode(&turn(vec![Item::message(Role::User, "x")], vec![function("f"), hosted]), &quirks)
        .unwrap_err();
    assert_eq!(error.param.as_deref(), Some("tools[1]"));
    assert!(error.public.contains("web_search"), "{error}");
    for name in ["prompt", "context_management", "background_options", "generate"] {
        let mut it = turn(vec![Item::message(Role::User, "x")], Vec::new());
        let mut settings = (*it.settings).clone();
        settings.extra.push(trilith_core::DialectId::Responses, name, Json::from_checked("{}"));
        it.settings = settings.into();
        let error = encode(&it, &quirks).unwrap_err();
        assert_eq!(error.param.as_deref(), Some(name));
        assert!(error.public.contains(name), "{error}");
    }
    let reference = turn(vec![Item::new(ItemBody::Reference("msg_1".into()))], Vec::new());
    assert!(encode(&reference, &quirks).unwrap_err().public.contains("msg_1"));
    let file =
        Part::new(PartKind::Image(Image { source: MediaSource::FileId("file-1".into()), detail: None }));
    let message = trilith_core::Message { role: Role::User, parts: vec![file], phase: None, name: None };
    let error = encode(&turn(vec![Item::new(ItemBody::Message(message))], Vec::new()), &quirks).unwrap_err();
    assert_eq!(error.param.as_deref(), Some("input[0].content[0]"));
}

#[test]
fn instructions_and_roles_follow_the_upstream() {
    let mut it = turn(
        vec![
            Item::message(Role::Developer, "a"),
            Item::message(Role::User, "b"),
            Item::message(Role::System, "c"),
        ],
        Vec::new(),
    );
    it.settings = Settings {
        instructions: Some(trilith_core::Instructions::Text("first".into())),
        limits: trilith_core::Limits { max_output_tokens: Some(9) },
        ..Settings::default()
    }
    .into();
    let quirks = Quirks {
        system_role: "system".into(),
        max_tokens_field: "max_tokens".into(),
        drop_fields: vec!["max_tokens".into()],
        ..Quirks::default()
    };
    let (sent, encoded) = encode(&it, &quirks).unwrap();
    let roles: Vec<&str> =
        sent["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "system", "user", "system"]);
    assert_eq!((sent.get("max_tokens"), &*encoded.losses[0].path), (None, "max_tokens"));
    let (sent, _) = encode(&it, &Quirks::default()).unwrap();
    assert_eq!(
        (&sent["messages"][0]["role"], &sent["max_completion_tokens"]),
        (&json!("developer"), &json!(9))
    );
}

#[test]
fn late_entries_of_reasoning_stay_with_their_turn() {
    let entry = |data: &str| {
        let carrier = Carrier { kind: CarrierKind::Details, data: data.into(), origin: None };
        Item::new(ItemBody::Reasoning(Reasoning { carriers: vec![carrier], ..Reasoning::default() }))
    };
    let input = vec![
        entry("{\"a\":1}"),
        Item::message(Role::Assistant, "x"),
        entry("{\"b\":2}"),
        Item::message(Role::User, "y"),
    ];
    let (sent, _) = encode(&turn(input, Vec::new()), &Quirks::default()).unwrap();
    assert_eq!(sent["messages"][0]["reasoning_details"], json!([{"a": 1}, {"b": 2}]));
    assert_eq!(sent["messages"].as_array().unwrap().len(), 2);
}
