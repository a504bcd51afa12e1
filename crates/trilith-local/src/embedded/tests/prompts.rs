//! What the engine is asked, and what is refused or reported.

use std::sync::Arc;

use trilith_core::{
    Call, CallKind, CallResult, Disposition, Effort, Error, Image, Instructions, Item, ItemBody, Json,
    MediaSource, OutputFormat, Part, PartKind, Reasoning, ResultOutput, ResultStatus, Role, Settings,
    TextFormat, Tool, ToolChoice, ToolChoiceMode, ToolKind, ToolRef, Turn,
};

use crate::embedded::prompt::{self, Prepared};
use crate::{Chat, ChatMessage, HistoricCall, Prompt};

fn prepare(settings: Settings, input: Vec<Item>) -> Result<Prepared, Error> {
    prompt::prepare(&Turn { settings: Arc::new(settings), input, ..Turn::default() }, None)
}

fn chat(prepared: Prepared) -> Chat {
    match prepared.request.prompt {
        Prompt::Chat(chat) => chat,
        Prompt::Text(text) => panic!("{text}"),
    }
}

fn losses(prepared: &Prepared, wanted: Disposition) -> Vec<&str> {
    prepared.losses.iter().filter(|loss| loss.disposition == wanted).map(|loss| &*loss.path).collect()
}

fn refused(settings: Settings, input: Vec<Item>) -> (Box<str>, String) {
    let Err(error) = prepare(settings, input) else { panic!("it was taken") };
    (error.param.clone().unwrap_or_default(), error.public.into_owned())
}

fn call(kind: CallKind, id: &str, name: &str, args: &str) -> Item {
    Item::new(ItemBody::Call(Call {
        kind,
        call_id: Some(id.into()),
        name: name.into(),
        namespace: None,
        args: args.into(),
        caller: None,
        detail: None,
    }))
}

fn result(id: &str, text: &str, status: Option<ResultStatus>) -> Item {
    Item::new(ItemBody::Result(CallResult {
        kind: CallKind::Function,
        call_id: Some(id.into()),
        name: None,
        namespace: None,
        status,
        output: ResultOutput::Text(text.into()),
        caller: None,
        detail: None,
    }))
}

fn function(name: &str) -> Tool {
    let parameters = Some(Json::from_checked(r#"{"type":"object", "z":1}"#));
    Tool::new(ToolKind::Function { name: name.into(), description: None, parameters, strict: None })
}

fn custom(name: &str) -> Tool {
    Tool::new(ToolKind::Custom { name: name.into(), description: Some("Runs it.".into()), format: None })
}

fn user(text: &str) -> Item {
    Item::message(Role::User, text)
}

#[test]
fn instructions_in_front_are_one_message_and_later_ones_stay_in_place() {
    let settings = Settings { instructions: Some(Instructions::Text("A".into())), ..Settings::default() };
    let input = vec![
        Item::message(Role::Developer, "B"),
        user("Hi"),
        Item::message(Role::Assistant, "Hello"),
        Item::message(Role::System, "C"),
        user("Bye"),
    ];
    let messages = chat(prepare(settings, input).unwrap()).messages;
    let expected = [
        ChatMessage::System("A\n\nB".into()),
        ChatMessage::User("Hi".into()),
        ChatMessage::Assistant { text: "Hello".into(), tool_calls: vec![] },
        ChatMessage::System("C".into()),
        ChatMessage::User("Bye".into()),
    ];
    assert_eq!(messages, expected);
}

#[test]
fn calls_join_the_message_before_them_and_results_know_their_function() {
    let settings = Settings { tools: vec![function("look"), custom("run")], ..Settings::default() };
    let input = vec![
        user("Go"),
        Item::new(ItemBody::Reasoning(Reasoning::default())),
        Item::message(Role::Assistant, "Looking."),
        call(CallKind::Function, "c1", "look", r#"{"at": 1}"#),
        call(CallKind::Custom, "c2", "run", "say \"hi\""),
        result("c2", "boom", Some(ResultStatus::Error)),
        result("c1", "seen", None),
    ];
    let prepared = prepare(settings, input).unwrap();
    assert_eq!(losses(&prepared, Disposition::Hint), ["input[1]"]);
    assert_eq!(losses(&prepared, Disposition::Emulate), ["tools[1]"]);
    let messages = chat(prepared).messages;
    let historic = |id: &str, name: &str, arguments: &str| HistoricCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
    };
    let expected = [
        ChatMessage::User("Go".into()),
        ChatMessage::Assistant {
            text: "Looking.".into(),
            tool_calls: vec![
                historic("c1", "look", r#"{"at": 1}"#),
                historic("c2", "run", r#"{"input":"say \"hi\""}"#),
            ],
        },
        ChatMessage::ToolResult {
            call_id: "c2".into(),
            name: "run".into(),
            text: "[the tool failed]\nboom".into(),
        },
        ChatMessage::ToolResult { call_id: "c1".into(), name: "look".into(), text: "seen".into() },
    ];
    assert_eq!(messages, expected);
}

#[test]
fn calls_and_results_must_match() {
    let (param, text) = refused(Settings::default(), vec![result("c1", "", None)]);
    assert_eq!(&*param, "input");
    assert!(text.contains("c1"), "{text}");
    let (_, text) = refused(Settings::default(), vec![call(CallKind::Function, "c9", "f", "{}")]);
    assert!(text.contains("No tool output found for function call c9"), "{text}");
}

#[test]
fn what_is_not_text_is_refused_by_its_place() {
    let image = Image { source: MediaSource::Url("https://example.org/cat.png".into()), detail: None };
    let mut item = user("What is this?");
    if let ItemBody::Message(message) = &mut item.body {
        message.parts.push(Part::new(PartKind::Image(image)));
    }
    let (param, text) = refused(Settings::default(), vec![user("Hi"), item]);
    assert_eq!(&*param, "input[1].content[1]");
    assert!(text.contains("takes text only"), "{text}");
    let reference = Item::new(ItemBody::Reference("msg_1".into()));
    assert_eq!(&*refused(Settings::default(), vec![reference]).0, "input[0]");
    let hosted = call(CallKind::WebSearch, "w", "", "");
    assert_eq!(&*refused(Settings::default(), vec![hosted]).0, "input[0]");
}

#[test]
fn tools_are_offered_as_functions_under_names_of_their_own() {
    let namespace = Tool::new(ToolKind::Namespace {
        name: "fs".into(),
        description: None,
        tools: vec![function("read"), custom("write")],
    });
    let tools = vec![namespace, function("fs__read"), function("fs__read")];
    let prepared = prepare(Settings { tools, ..Settings::default() }, vec![]).unwrap();
    let meant = |shown: &str| {
        let tool = prepared.tools.by_shown(shown).unwrap();
        (tool.namespace.as_deref().unwrap_or_default().to_owned(), tool.name.to_string(), tool.kind)
    };
    assert_eq!(meant("fs__read"), (String::new(), "fs__read".into(), CallKind::Function));
    assert_eq!(meant("fs__read_2"), ("fs".into(), "read".into(), CallKind::Function));
    assert_eq!(meant("fs__write"), ("fs".into(), "write".into(), CallKind::Custom));
    let offered = chat(prepared).tools;
    // The schema's text is untouched.
    assert!(offered[0].contains(r#""parameters":{"type":"object", "z":1}"#), "{}", offered[0]);
    let write: serde_json::Value = serde_json::from_str(&offered[3]).unwrap();
    assert_eq!(write["function"]["name"], "fs__write");
    assert_eq!(write["function"]["parameters"]["properties"]["input"]["type"], "string");
}

#[test]
fn choices_are_kept_or_refused() {
    let with = |choice| Settings {
        tools: vec![function("a"), function("b")],
        tool_choice: Some(choice),
        parallel_tool_calls: Some(false),
        ..Settings::default()
    };
    let offered = |choice| chat(prepare(with(choice), vec![]).unwrap()).tools.len();
    assert_eq!(offered(ToolChoice::None), 0);
    assert_eq!(offered(ToolChoice::Auto), 2);
    let one = || vec![ToolRef::Function("b".into())];
    assert_eq!(offered(ToolChoice::Allowed { mode: ToolChoiceMode::Auto, tools: one() }), 1);
    for forced in [
        ToolChoice::Required,
        ToolChoice::Tool(ToolRef::Function("a".into())),
        ToolChoice::Allowed { mode: ToolChoiceMode::Required, tools: one() },
    ] {
        let (param, text) = refused(with(forced), vec![]);
        assert_eq!(&*param, "tool_choice");
        assert!(text.contains("'auto'"), "{text}");
    }
    let prepared = prepare(with(ToolChoice::Auto), vec![]).unwrap();
    assert_eq!(losses(&prepared, Disposition::Emulate), ["parallel_tool_calls"]);
}

#[test]
fn a_vendors_tool_is_refused_by_its_name() {
    let config = Json::from_checked(r#"{"type":"web_search"}"#);
    let tool = Tool::new(ToolKind::Hosted { tool: trilith_core::HostedTool::WebSearch, config });
    let (param, text) = refused(Settings { tools: vec![tool], ..Settings::default() }, vec![]);
    assert_eq!(&*param, "tools[0]");
    assert!(text.contains("web_search"), "{text}");
}

#[test]
fn wishes_that_change_the_answer_are_refused() {
    type Change = fn(&mut Settings);
    let cases: [(&str, Change); 6] = [
        ("n", |settings| settings.sampling.n = Some(2)),
        ("logprobs", |settings| settings.sampling.logprobs = Some(true)),
        ("top_logprobs", |settings| settings.sampling.top_logprobs = Some(3)),
        ("logit_bias", |settings| settings.sampling.logit_bias = Some(Json::from_checked(r#"{"1":2}"#))),
        ("text.format", |settings| settings.output.format = Some(TextFormat::JsonObject)),
        ("text.format", |settings| {
            let format = OutputFormat { name: None, description: None, schema: None, strict: None };
            settings.output.format = Some(TextFormat::JsonSchema(format));
        }),
    ];
    for (param, change) in cases {
        let mut settings = Settings::default();
        change(&mut settings);
        assert_eq!(&*refused(settings, vec![user("Hi")]).0, param);
    }
}

#[test]
fn harmless_values_pass_without_a_report() {
    let mut settings = Settings::default();
    settings.sampling.n = Some(1);
    settings.sampling.logprobs = Some(false);
    settings.sampling.logit_bias = Some(Json::from_checked("{ }"));
    settings.output.format = Some(TextFormat::Text);
    settings.reasoning.effort = Some(Effort::Medium);
    settings.sampling.top_p = Some(0.0);
    settings.sampling.seed = Some(-1);
    settings.limits.max_output_tokens = Some(u64::MAX);
    settings.extra.push(trilith_core::DialectId::Chat, "modalities", Json::from_checked(r#"["text"]"#));
    let prepared = prepare(settings, vec![user("Hi")]).unwrap();
    assert!(prepared.losses.is_empty(), "{:?}", prepared.losses);
    assert!(prepared.request.validate().is_ok());
    assert_eq!(prepared.request.max_tokens, Some(u32::MAX));
    assert_eq!(chat(prepared).thinking, Some(true));
}

#[test]
fn what_changes_little_is_reported() {
    let mut settings = Settings::default();
    settings.reasoning.effort = Some(Effort::High);
    settings.service_tier = Some("flex".into());
    settings.prompt_cache_key = Some("k".into());
    settings.extra.push(trilith_core::DialectId::Chat, "web_search_options", Json::from_checked("{}"));
    let prepared = prepare(settings, vec![user("Hi")]).unwrap();
    assert_eq!(
        losses(&prepared, Disposition::Warn),
        ["reasoning.effort", "service_tier", "web_search_options"]
    );
    assert_eq!(losses(&prepared, Disposition::Hint), ["prompt_cache_key"]);
}

#[test]
fn unlikely_tokens_are_cut_off_unless_the_caller_chooses() {
    let min_p = |change: fn(&mut Settings)| {
        let mut settings = Settings::default();
        change(&mut settings);
        prepare(settings, vec![user("Hi")]).unwrap().request.sampling.min_p
    };
    assert_eq!(min_p(|_| {}), 0.1);
    assert_eq!(min_p(|settings| settings.sampling.temperature = Some(1.5)), 0.1);
    assert_eq!(min_p(|settings| settings.sampling.top_p = Some(1.0)), 0.0);
    assert_eq!(min_p(|settings| settings.sampling.min_p = Some(0.0)), 0.0);
}
