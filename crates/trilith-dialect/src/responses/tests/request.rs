//! Requests: what is accepted, how a mistake is named, and what goes to an upstream.

use serde_json::{Value, json};
use trilith_core::{
    CallKind, Carrier, CarrierKind, DialectId, Effort, Item, ItemBody, Json, MediaSource, PartKind,
    Reasoning, Role, ToolKind,
};

use super::support::{encode, target};
use crate::{
    dialect::{Dialect, Quirks},
    responses::Responses,
};

fn decode(request: &Value) -> trilith_core::Turn {
    Responses.decode_request(request.to_string().as_bytes()).unwrap()
}

/// A request with one wrong thing in it, the field that must be named, and the code.
fn mistakes() -> Vec<(Value, &'static str, &'static str)> {
    vec![
        (json!({"input": "hi"}), "model", "missing_required_parameter"),
        (json!({"model": "m"}), "input", "missing_required_parameter"),
        (json!({"model": 7, "input": "hi"}), "model", "invalid_type"),
        (json!({"model": "m", "input": 7}), "input", "invalid_type"),
        (json!({"model": "m", "input": []}), "input", "empty_array"),
        (
            json!({"model": "m", "input": [{"role": "pirate", "content": "x"}]}),
            "input[0].role",
            "invalid_value",
        ),
        (json!({"model": "m", "input": [{"type": "nonsense"}]}), "input[0].type", "invalid_value"),
        (
            json!({"model": "m", "input": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]}),
            "input[0].content[0].type",
            "invalid_value",
        ),
        (
            json!({"model": "m", "input": [{"role": "user", "content": [
                {"type": "input_image", "image_url": "data:image/png;base64,###"}]}]}),
            "input[0].content[0].image_url",
            "invalid_base64",
        ),
        (
            json!({"model": "m", "input": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": {}}]}),
            "input[0].arguments",
            "invalid_type",
        ),
        (
            json!({"model": "m", "input": [{"type": "compaction_trigger"}, {"role": "user", "content": "x"}]}),
            "input[0]",
            "invalid_value",
        ),
        (json!({"model": "m", "input": "x", "temperature": 2.5}), "temperature", "number_out_of_range"),
        (json!({"model": "m", "input": "x", "top_logprobs": 21}), "top_logprobs", "integer_out_of_range"),
        (
            json!({"model": "m", "input": "x", "max_output_tokens": 0}),
            "max_output_tokens",
            "integer_out_of_range",
        ),
        (json!({"model": "m", "input": "x", "max_tool_calls": -1}), "max_tool_calls", "integer_out_of_range"),
        (json!({"model": "m", "input": "x", "include": ["everything"]}), "include[0]", "invalid_value"),
        (
            json!({"model": "m", "input": "x", "reasoning": {"effort": "huge"}}),
            "reasoning.effort",
            "invalid_value",
        ),
        (json!({"model": "m", "input": "x", "metadata": {"a": 1}}), "metadata.a", "invalid_type"),
        (
            json!({"model": "m", "input": "x", "text": {"format": {"type": "xml"}}}),
            "text.format.type",
            "invalid_value",
        ),
        (
            json!({"model": "m", "input": "x", "tools": [{"type": "function", "name": "a b"}]}),
            "tools[0].name",
            "invalid_value",
        ),
        (
            json!({"model": "m", "input": "x", "tools": [{"type": "teleport"}]}),
            "tools[0].type",
            "invalid_value",
        ),
        (
            json!({"model": "m", "input": "x", "tool_choice": {"type": "function", "name": "f"}}),
            "tool_choice",
            "invalid_value",
        ),
        (
            json!({"model": "m", "input": "x", "previous_response_id": "r", "conversation": "c"}),
            "conversation",
            "mutually_exclusive_parameters",
        ),
        (json!({"model": "m", "input": "x", "background": true, "store": false}), "store", "invalid_value"),
        (json!({"model": "m", "input": "x", "stream_options": {}}), "stream_options", "invalid_value"),
        (
            json!({"model": "m", "input": "x", "tools": vec![json!({"type": "shell"}); 513]}),
            "tools",
            "array_above_max_length",
        ),
        (
            json!({"model": "m", "input": [{"role": "user", "content": [
                {"type": "input_image", "image_url": "file:///etc/passwd"}]}]}),
            "input[0].content[0].image_url",
            "invalid_image_url",
        ),
        (
            json!({"model": "m", "input": [{"role": "user", "content": [
                {"type": "input_file", "filename": "f", "file_data": "Patch"}]}]}),
            "input[0].content[0].file_data",
            "invalid_base64",
        ),
        (
            json!({"model": "m", "input": [{"role": "user", "content": [
                {"type": "input_text", "text": "x"}, {"type": "refusal", "refusal": "no"}]}]}),
            "input[0].content[1].type",
            "invalid_value",
        ),
    ]
}

#[test]
fn mistakes_name_their_field() {
    for (request, param, code) in mistakes() {
        let error = Responses.decode_request(request.to_string().as_bytes()).unwrap_err();
        assert_eq!((error.param.as_deref(), error.code.as_deref()), (Some(param), Some(code)), "{request}");
        let mut body = Vec::new();
        assert_eq!(Responses.render_error(&error, "req_1", &mut body), 400);
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["error"]["type"], "invalid_request_error");
        assert_eq!(body["error"].as_object().unwrap().len(), 4, "T6: all four keys");
    }
}

#[test]
fn bodies_that_are_no_json_object_are_refused() {
    for body in [&b""[..], b"{", b"[]", b"\"x\"", b"{\"model\":\"m\",}", b"\xff{}", b"{\"a\":01}"] {
        assert!(Responses.decode_request(body).is_err(), "{body:?}");
    }
    for (text, fine) in [
        (r"\ud83d\ude00", true),
        (r"\\ud800", true),
        (r"\ud800", false),
        (r"\udc00", false),
        (r"\ud800\u0041", false),
    ] {
        let body = format!(r#"{{"model":"m","input":"{text}"}}"#);
        assert_eq!(Responses.decode_request(body.as_bytes()).is_ok(), fine, "{body}");
    }
    let deep = format!("{{\"model\":\"m\",\"input\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
    assert!(Responses.decode_request(deep.as_bytes()).is_err());
}

#[test]
fn easy_messages_unknown_ids_and_nulls_are_accepted() {
    let turn = decode(&json!({
        "model": "m", "stream": null, "tools": null, "temperature": null, "metadata": null,
        "input": [
            {"role": "user", "content": "hi", "id": "msg_never-issued", "status": null},
            {"id": "msg_elsewhere"},
            {"type": "item_reference", "id": "rs_elsewhere"},
            {"type": "acme:thing", "id": "x", "payload": [1]},
        ],
    }));
    assert_eq!(turn.input[0].id.as_deref(), Some("msg_never-issued"));
    assert!(matches!(&turn.input[1].body, ItemBody::Reference(id) if &**id == "msg_elsewhere"));
    assert!(matches!(&turn.input[2].body, ItemBody::Reference(id) if &**id == "rs_elsewhere"));
    assert!(matches!(&turn.input[3].body, ItemBody::Opaque(opaque) if &*opaque.kind == "acme:thing"));
}

#[test]
fn tools_in_items_are_tools() {
    let turn = decode(&json!({
        "model": "m",
        "tool_choice": {"type": "custom", "name": "exec"},
        "input": [{"type": "additional_tools", "role": "developer", "tools": [
            {"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]}]}],
    }));
    let tools = crate::dialect::effective_tools(&turn.settings, &turn.input);
    assert!(matches!(&tools[0].kind, ToolKind::Namespace { name, tools, .. }
        if &**name == "functions" && matches!(tools[0].kind, ToolKind::Custom { .. })));
}

#[test]
fn argument_text_and_schemas_keep_every_byte() {
    let schema = r#"{ "type":"object",  "properties":{"b":{"const":1.0},"a":{"maximum":1e400}} }"#;
    let request = format!(
        r#"{{"model":"m","input":[{{"type":"function_call","call_id":"c","name":"f","arguments":" {{\"b\" : 1.0 }}"}},
        {{"type":"function_call_output","call_id":"c","output":""}}],
        "tools":[{{"type":"function","name":"f","parameters":{schema}}}]}}"#
    );
    let turn = Responses.decode_request(request.as_bytes()).unwrap();
    let ItemBody::Call(call) = &turn.input[0].body else { panic!() };
    assert_eq!(call.args, " {\"b\" : 1.0 }");
    let quirks = Quirks::default();
    let body = Responses.encode_request(&turn, &target("m", &quirks)).unwrap().body;
    let body = String::from_utf8(body).unwrap();
    assert!(body.contains(schema) && body.contains(r#"" {\"b\" : 1.0 }""#), "{body}");
    assert!(!body.contains("strict"), "what a Responses caller left out stays left out");
}

#[test]
fn inline_media_are_told_from_addresses() {
    let turn = decode(&json!({"model": "m", "input": [{"role": "user", "content": [
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="},
        {"type": "input_image", "image_url": "https://example.com/a.png"},
        {"type": "input_file", "file_data": "JVBERi0xLjcK", "filename": "a.pdf"},
    ]}]}));
    let ItemBody::Message(message) = &turn.input[0].body else { panic!() };
    let source = |n: usize| match &message.parts[n].kind {
        PartKind::Image(image) => image.source.clone(),
        PartKind::File(file) => file.source.clone(),
        other => panic!("{other:?}"),
    };
    let png = MediaSource::Data { mime: Some("image/png".into()), base64: "iVBORw0KGgo=".into() };
    assert_eq!(source(0), png);
    assert_eq!(source(1), MediaSource::Url("https://example.com/a.png".into()));
    assert_eq!(source(2), MediaSource::Data { mime: None, base64: "JVBERi0xLjcK".into() });
}

#[test]
fn nothing_of_server_state_goes_upstream() {
    let body = encode(
        r#"{"model":"m","store":true,"previous_response_id":"resp_1","background":false,
            "input":[{"type":"message","id":"msg_1","role":"user","content":"hi"}],"reasoning":{"effort":"low"}}"#,
        &Quirks::default(),
    )
    .unwrap();
    assert_eq!(body["store"], false);
    assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
    assert_eq!(body["model"], "up");
    for name in ["previous_response_id", "background", "conversation"] {
        assert!(body.get(name).is_none(), "{name}");
    }
    assert!(body["input"][0].get("id").is_none());
}

#[test]
fn fields_of_later_versions_ride_along() {
    let body = encode(
        r#"{"model":"m","input":"x","client_metadata":{"a":"b"},"moderation":{"model":"o"},"reasoning":{"depth":3},
            "image":{"context_compression":"auto"},"prompt_cache_options":{"mode":"explicit"},"brand_new":[1,2]}"#,
        &Quirks::default(),
    )
    .unwrap();
    assert_eq!(body["client_metadata"], json!({"a": "b"}));
    assert_eq!(body["brand_new"], json!([1, 2]));
    assert_eq!(body["reasoning"], json!({"depth": 3}));
    let quirks = Quirks { drop_fields: vec!["brand_new".into()], ..Quirks::default() };
    let dropped = encode(r#"{"model":"m","input":"x","brand_new":1}"#, &quirks).unwrap();
    assert!(dropped.get("brand_new").is_none());
}

#[test]
fn reasoning_of_another_origin_stays_behind_and_is_reported() {
    let mut turn = decode(&json!({"model": "m", "input": "x"}));
    for data in ["tl1.sealed", "gAAAAnative"] {
        let carriers = vec![Carrier { kind: CarrierKind::Encrypted, data: data.into(), origin: None }];
        turn.input.push(Item::new(ItemBody::Reasoning(Reasoning { carriers, ..Reasoning::default() })));
    }
    let quirks = Quirks::default();
    let encoded = Responses.encode_request(&turn, &target("m", &quirks)).unwrap();
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    assert_eq!(body["input"].as_array().unwrap().len(), 2);
    assert_eq!(body["input"][1]["encrypted_content"], "gAAAAnative");
    assert_eq!(
        body["include"],
        json!(["reasoning.encrypted_content"]),
        "native carriers are asked for again"
    );
    assert_eq!(encoded.losses.iter().map(|loss| &*loss.path).collect::<Vec<_>>(), ["input[1]"]);
}

#[test]
fn what_responses_cannot_say_is_refused_or_reported() {
    let quirks = Quirks::default();
    let base = decode(&json!({"model": "m", "input": "x"}));
    let with = |change: &dyn Fn(&mut trilith_core::Settings)| {
        let mut turn = base.clone();
        let mut settings = (*turn.settings).clone();
        change(&mut settings);
        turn.settings = settings.into();
        Responses.encode_request(&turn, &target("m", &quirks))
    };
    let refused = |change: &dyn Fn(&mut trilith_core::Settings)| with(change).unwrap_err().param;
    assert_eq!(refused(&|s| s.sampling.n = Some(2)).as_deref(), Some("n"));
    let bias = Json::from_checked(r#"{"1":2}"#);
    assert_eq!(refused(&|s| s.sampling.logit_bias = Some(bias.clone())).as_deref(), Some("logit_bias"));
    let audio = Json::from_checked(r#"["text","audio"]"#);
    let modalities =
        |s: &mut trilith_core::Settings| s.extra.push(DialectId::Chat, "modalities", audio.clone());
    assert_eq!(refused(&modalities).as_deref(), Some("modalities"));
    let encoded = with(&|s| {
        s.sampling.stop = vec!["END".into()];
        s.sampling.seed = Some(1);
        s.sampling.presence_penalty = Some(0.5);
        s.reasoning.effort = Some(Effort::Low);
    })
    .unwrap();
    let losses: Vec<_> = encoded.losses.iter().map(|loss| (&*loss.path, loss.disposition.name())).collect();
    assert_eq!(losses, [("presence_penalty", "warn"), ("seed", "warn"), ("stop", "emulate")]);
}

#[test]
fn upstreams_that_know_functions_only_get_one_flat_list() {
    let quirks = Quirks { custom_tools: false, ..Quirks::default() };
    let request = json!({"model": "m", "input": [
        {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "late"}]},
        {"type": "function_call", "call_id": "c", "name": "get", "namespace": "crm", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "x"}],
        "tools": [{"type": "namespace", "name": "crm", "description": "d",
                   "tools": [{"type": "function", "name": "get"}]}]});
    let turn = decode(&request);
    let encoded = Responses.encode_request(&turn, &target("m", &quirks)).unwrap();
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    let names: Vec<_> = body["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["crm__get", "late"]);
    assert_eq!(body["input"][0]["name"], "crm__get");
    let mut events = Vec::new();
    let answer = r#"{"status":"completed","output":[{"type":"function_call","call_id":"d","name":"crm__get","arguments":"{}"}]}"#;
    Responses.decode_response(answer.as_bytes(), &encoded.names, &mut events).unwrap();
    let response = super::support::fold(events);
    let ItemBody::Call(call) = &response.output[0].item.body else { panic!() };
    assert_eq!((call.kind, call.namespace.as_deref(), &*call.name), (CallKind::Function, Some("crm"), "get"));
    let hosted = encode(r#"{"model":"m","input":"x","tools":[{"type":"shell"}]}"#, &quirks);
    assert_eq!(hosted.unwrap_err().param.as_deref(), Some("tools[0]"));
}

#[test]
fn a_custom_tool_becomes_a_function_and_its_calls_come_back() {
    let quirks = Quirks { custom_tools: false, ..Quirks::default() };
    let request = json!({"model": "m", "input": [
        {"type": "custom_tool_call", "call_id": "c", "name": "patch", "namespace": "fs", "input": "a \"b\""},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "x"}],
        "tools": [{"type": "namespace", "name": "fs", "tools": [{"type": "custom", "name": "patch"}]}],
        "tool_choice": {"type": "custom", "name": "patch"}});
    let encoded = Responses.encode_request(&decode(&request), &target("m", &quirks)).unwrap();
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    assert_eq!(
        (&body["tools"][0]["type"], &body["tools"][0]["name"]),
        (&json!("function"), &json!("fs__patch"))
    );
    assert_eq!(body["tool_choice"], json!({"type": "function", "name": "fs__patch"}));
    assert_eq!(body["input"][0]["type"], "function_call");
    assert_eq!(body["input"][0]["arguments"], json!({"input": "a \"b\""}).to_string());
    assert_eq!(body["input"][1]["type"], "function_call_output");
    assert_eq!(encoded.losses.len(), 1);

    let arguments = json!({"input": "two\nlines"}).to_string();
    let item = json!({"type": "function_call", "id": "i", "call_id": "d", "name": "fs__patch", "arguments": arguments});
    let mut begun = item.clone();
    begun["arguments"] = json!("");
    let added = json!({"type": "response.output_item.added", "output_index": 0, "item": begun});
    let delta =
        json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": arguments});
    let done = json!({"type": "response.output_item.done", "output_index": 0, "item": item});
    let end = json!({"type": "response.completed", "response": {"status": "completed", "output": []}});
    for told in [vec![&added, &delta, &done, &end], vec![&added, &delta, &end], vec![&done, &end]] {
        let mut events = Vec::new();
        let mut reader = Responses.reader(encoded.names.clone());
        for event in told {
            reader.push(format!("data: {event}\n\n").as_bytes(), &mut events).unwrap();
        }
        reader.finish(&mut events).unwrap();
        let response = super::support::fold(events);
        let ItemBody::Call(call) = &response.output[0].item.body else { panic!() };
        let found = (call.kind, call.namespace.as_deref(), &*call.name, call.args.as_str());
        assert_eq!(found, (CallKind::Custom, Some("fs"), "patch", "two\nlines"));
    }
}

#[test]
fn call_ids_that_are_too_long_are_derived_alike_for_call_and_result() {
    let id = "x".repeat(100);
    let request = json!({"model": "m", "input": [
        {"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": id, "output": "x"}]});
    let body = encode(&request.to_string(), &Quirks::default()).unwrap();
    let wire = body["input"][0]["call_id"].as_str().unwrap();
    assert!(wire.len() <= 40 && wire.starts_with("s_"));
    assert_eq!(body["input"][1]["call_id"], wire);
}

#[test]
fn at_most_four_cache_marks_go_along() {
    let part = json!({"type": "input_text", "text": "x", "prompt_cache_breakpoint": {"mode": "explicit"}});
    let request = json!({"model": "m", "input": [{"role": "user", "content": vec![part; 6]}]});
    let turn = decode(&request);
    let quirks = Quirks::default();
    let encoded = Responses.encode_request(&turn, &target("m", &quirks)).unwrap();
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    let marked: Vec<bool> = body["input"][0]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part.get("prompt_cache_breakpoint").is_some())
        .collect();
    assert_eq!(marked, [true, false, false, true, true, true]);
    assert!(encoded.losses.iter().all(|loss| loss.disposition == trilith_core::Disposition::Hint));
}

#[test]
fn a_message_from_elsewhere_keeps_its_role() {
    let mut turn = decode(&json!({"model": "m", "input": "x"}));
    turn.input.insert(0, Item::message(Role::System, "be kind"));
    let quirks = Quirks::default();
    let encoded = Responses.encode_request(&turn, &target("m", &quirks)).unwrap();
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    assert_eq!(
        body["input"][0],
        json!({"type": "message", "role": "system",
        "content": [{"type": "input_text", "text": "be kind"}]})
    );
}
