//! Steps as events, and events as a response.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::StreamExt;
use proptest::prelude::*;
use trilith_core::{
    Begin, CallKind, Created, Event, FinishReason, Item, ItemBody, ItemStatus, PartKind, Response, Settings,
    Tool, ToolKind, Turn,
};

use crate::embedded::events::{Answer, Events};
use crate::embedded::prompt;
use crate::embedded::tools::Tools;
use crate::stream::answer as queue;
use crate::{GenerateError, Step};

fn done(reason: crate::FinishReason) -> Step {
    Step::Done { reason, prompt_tokens: 9, cached_tokens: 4, output_tokens: 3 }
}

fn text(text: &str) -> Step {
    Step::Text(text.into())
}

fn call(name: &str, arguments: &str) -> Step {
    Step::ToolCall { name: name.into(), arguments: arguments.into() }
}

fn tools() -> Tools {
    let custom = Tool::new(ToolKind::Custom { name: "run".into(), description: None, format: None });
    let member =
        ToolKind::Function { name: "read".into(), description: None, parameters: None, strict: None };
    let namespace =
        ToolKind::Namespace { name: "fs".into(), description: None, tools: vec![Tool::new(member)] };
    let settings = Settings { tools: vec![custom, Tool::new(namespace)], ..Settings::default() };
    prompt::prepare(&Turn { settings: Arc::new(settings), ..Turn::default() }, None).unwrap().tools
}

fn events(steps: Vec<Step>, one_call: bool) -> Vec<Event> {
    let mut answer = Answer::new(tools(), one_call);
    let mut events = Vec::new();
    for step in steps {
        answer.step(step, &mut events);
    }
    events
}

fn fold(events: &[Event]) -> Response {
    let mut response = Response::new(&Created {
        id: "resp_1".into(),
        created_at: 0,
        settings: Arc::default(),
        store: false,
        background: false,
        previous_response_id: None,
        conversation: None,
    });
    events.iter().for_each(|event| response.apply(event).unwrap());
    assert!(response.output.iter().all(|output| !output.open));
    response
}

fn said(item: &Item) -> &str {
    match &item.body {
        ItemBody::Message(message) => match message.parts.first().map(|part| &part.kind) {
            Some(PartKind::Text(text)) => &text.text,
            other => panic!("{other:?}"),
        },
        ItemBody::Reasoning(reasoning) => &reasoning.text[0],
        ItemBody::Call(call) => &call.args,
        other => panic!("{other:?}"),
    }
}

#[test]
fn thinking_text_and_calls_become_items_in_order() {
    let steps = vec![
        Step::Reasoning("hm".into()),
        Step::Reasoning("m".into()),
        text("Let me "),
        text("see."),
        call("fs__read", r#"{"path":"a"}"#),
        call("run", r#"{"input":"ls -l"}"#),
        done(crate::FinishReason::Stop),
    ];
    let response = fold(&events(steps, false));
    let items: Vec<_> = response.output.iter().map(|output| said(&output.item)).collect();
    assert_eq!(items, ["hmm", "Let me see.", r#"{"path":"a"}"#, "ls -l"]);
    let ItemBody::Call(read) = &response.output[2].item.body else { panic!() };
    assert_eq!((read.namespace.as_deref(), &*read.name, read.kind), (Some("fs"), "read", CallKind::Function));
    let ItemBody::Call(run) = &response.output[3].item.body else { panic!() };
    assert_eq!((&*run.name, run.kind), ("run", CallKind::Custom));
    assert_eq!(response.finishes, [Some(FinishReason::ToolCalls)]);
    let usage = response.usage.as_ref().unwrap();
    assert_eq!((usage.input_total, usage.cache_read, usage.output_total), (9, 4, 3));
}

#[test]
fn of_several_calls_the_first_is_kept_where_one_is_wanted() {
    let steps = vec![call("a", "{}"), call("b", "{}"), done(crate::FinishReason::Stop)];
    assert_eq!(fold(&events(steps, true)).output.len(), 1);
}

#[test]
fn the_input_of_a_custom_tool_is_found_in_any_form() {
    for (written, input) in
        [(r#"{"input":"x"}"#, "x"), (r#""x""#, "x"), (r#"{"cmd":"x"}"#, r#"{"cmd":"x"}"#), ("x y", "x y")]
    {
        let response = fold(&events(vec![call("run", written), done(crate::FinishReason::Stop)], false));
        assert_eq!(said(&response.output[0].item), input);
    }
}

#[test]
fn the_end_says_why() {
    use crate::FinishReason as Engine;
    for (engine, reason, status) in [
        (Engine::Stop, FinishReason::Stop, ItemStatus::Completed),
        (Engine::Length, FinishReason::Length, ItemStatus::Incomplete),
        (Engine::ContextFull, FinishReason::ContextWindow, ItemStatus::Incomplete),
        (Engine::StopString("##".into()), FinishReason::StopString(Some("##".into())), ItemStatus::Completed),
    ] {
        let response = fold(&events(vec![text("a"), done(engine)], false));
        assert_eq!(response.finishes, [Some(reason)]);
        assert_eq!(response.output[0].item.status, Some(status));
    }
}

#[test]
fn saying_nothing_is_an_empty_message() {
    let response = fold(&events(vec![done(crate::FinishReason::Stop)], false));
    assert_eq!(said(&response.output[0].item), "");
}

#[test]
fn what_waits_comes_in_one_batch_and_a_fault_after_it() {
    let (sender, generation) = queue();
    let begin = Begin { model: Some("tiny".into()), ..Begin::default() };
    let mut stream = Events::new(generation, Answer::new(Tools::default(), false), begin, text("a"));
    sender.send(text("b"));
    sender.send(Step::Reasoning("c".into()));
    let first = stream.next().now_or_never().unwrap().unwrap().unwrap();
    assert!(matches!(&first[0], Event::Begin(begin) if begin.model.as_deref() == Some("tiny")));
    assert_eq!(first.iter().filter(|event| matches!(event, Event::ItemAdded { .. })).count(), 2);
    assert!(stream.next().now_or_never().is_none());
    sender.send(text("d"));
    sender.send(Step::Failed(GenerateError::Engine("broken".into())));
    let last = stream.next().now_or_never().unwrap().unwrap().unwrap();
    assert!(matches!(last.last(), Some(Event::ItemDone { status: ItemStatus::Incomplete, .. })));
    let fault = stream.next().now_or_never().unwrap().unwrap().unwrap_err();
    assert!(!fault.public.contains("broken"), "{fault:?}");
    assert!(stream.next().now_or_never().unwrap().is_none());
}

#[test]
fn dropping_the_events_stops_the_engine() {
    let (sender, generation) = queue();
    let stream = Events::new(generation, Answer::new(Tools::default(), false), Begin::default(), text("a"));
    assert!(!sender.is_abandoned());
    drop(stream);
    assert!(sender.is_abandoned());
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        "[a-z ]{1,4}".prop_map(Step::Text),
        "[a-z ]{1,4}".prop_map(Step::Reasoning),
        ("(run|fs__read|other)", "[ -~]{0,6}")
            .prop_map(|(name, arguments)| Step::ToolCall { name, arguments }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_steps_make_a_response(steps in prop::collection::vec(any_step(), 0..12), one_call: bool) {
        let spoken: String = steps.iter().map(|step| match step {
            Step::Text(text) | Step::Reasoning(text) => text.as_str(),
            _ => "",
        }).collect();
        let steps = steps.into_iter().chain([done(crate::FinishReason::Stop)]).collect();
        let response = fold(&events(steps, one_call));
        let items = response.output.iter().filter(|output| !matches!(output.item.body, ItemBody::Call(_)));
        let shown: String = items.map(|output| said(&output.item)).collect();
        prop_assert_eq!(shown, spoken);
        prop_assert!(!response.output.is_empty());
    }
}
