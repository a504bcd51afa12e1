//! Forms of texts that a target does not hold to by itself.

use std::sync::Arc;

use trilith_core::{
    DialectId, Error, Event, FinishReason, Hold, Item, ItemBody, Json, Loss, OutputFormat, Response, Role,
    Status, TextFormat, Tool, ToolChoice, ToolKind, ToolRef, Turn,
};

use super::{
    events::{added, answer, done, finish, function, message, part, part_done, text, usage},
    fakes::{Scripted, World, request, turn, unstored},
};

const SCHEMA: &str = r#"{"type":"object"}"#;

/// A turn that asks for a schema.
fn asking(strict: bool, streamed: bool) -> Turn {
    let mut turn =
        unstored(turn(vec![Item::message(Role::System, "Be brief."), Item::message(Role::User, "Go")]));
    let format = OutputFormat {
        name: Some("answer".into()),
        description: None,
        schema: Some(Json::from_checked(SCHEMA)),
        strict: Some(strict),
    };
    Arc::make_mut(&mut turn.settings).output.format = Some(TextFormat::JsonSchema(format));
    turn.stream.stream = streamed;
    turn
}

/// A call of the tool that stands for the answer.
fn call(args: &str) -> Vec<Event> {
    vec![
        added(0, function("answer")),
        Event::ArgumentsDelta { index: 0, delta: args.into() },
        done(0),
        usage(3, 2),
        finish(FinishReason::ToolCalls),
    ]
}

fn target(hold: Hold) -> Scripted {
    Scripted::new("up", DialectId::Chat).holding(hold)
}

fn function_tool(name: &str) -> Tool {
    Tool::new(ToolKind::Function { name: name.into(), description: None, parameters: None, strict: None })
}

fn said(response: &Response) -> String {
    let parts = response.output.iter().filter_map(|item| match &item.item.body {
        ItemBody::Message(message) => Some(&message.parts),
        _ => None,
    });
    parts.flatten().filter_map(|part| part.as_text()).collect()
}

fn code(response: &Response) -> Option<&str> {
    response.error.as_ref().map(|error| &*error.public)
}

fn paths(losses: &[Loss]) -> Vec<(&str, &'static str)> {
    losses.iter().map(|loss| (&*loss.path, loss.disposition.name())).collect()
}

#[tokio::test]
async fn a_call_that_the_model_must_make_becomes_the_text() {
    for streamed in [false, true] {
        let mut events = vec![
            added(0, message()),
            part(0, 0),
            text(0, 0, "Here it is"),
            part_done(0, 0),
            done(0),
            added(1, function("answer")),
            Event::ArgumentsDelta { index: 1, delta: "{\"a\"".into() },
            Event::ArgumentsDelta { index: 1, delta: ":1}".into() },
            done(1),
            added(2, function("answer")),
            Event::ArgumentsDelta { index: 2, delta: "{}".into() },
            done(2),
            usage(3, 2),
        ];
        events.push(finish(FinishReason::ToolCalls));
        let up = Arc::new(target(Hold::Call).plays(events));
        let world = World::new();
        let (run, shown) = world.run(request(asking(true, streamed), &up)).await;
        let response = run.response();
        assert_eq!((response.status, said(response).as_str()), (Status::Completed, "{\"a\":1}"));
        assert_eq!(response.output.len(), 1);
        let deltas = shown.iter().filter(|event| matches!(event, Event::TextDelta { .. })).count();
        assert_eq!(deltas, 2);
        assert!(run.losses().iter().any(|loss| &*loss.path == "text.format"));
        let calls = up.calls.lock().unwrap();
        let settings = &calls[0].turn.settings;
        assert_eq!(settings.output.format, None);
        assert_eq!(settings.tool_choice, Some(ToolChoice::Tool(ToolRef::Function("answer".into()))));
        let ToolKind::Function { name, parameters, .. } = &settings.tools[0].kind else { panic!() };
        assert_eq!((&**name, parameters.as_ref().unwrap().as_str()), ("answer", SCHEMA));
        // The response still says what its caller asked for.
        assert!(response.settings.output.format.is_some() && response.settings.tools.is_empty());
    }
}

#[tokio::test]
async fn what_is_said_instead_of_a_call_is_looked_at_too() {
    let up = Arc::new(target(Hold::Call).plays(answer("{}")));
    let (run, _) = World::new().run(request(asking(true, true), &up)).await;
    assert_eq!((run.response().status, said(run.response()).as_str()), (Status::Completed, "{}"));
    let up = Arc::new(target(Hold::Call).plays(answer("no")));
    let (run, _) = World::new().run(request(asking(true, true), &up)).await;
    assert_eq!(run.response().status, Status::Failed);
}

#[tokio::test]
async fn a_model_that_cannot_be_made_to_call_is_told() {
    let up = Arc::new(target(Hold::Words).plays(answer("{}")));
    let (run, _) = World::new().run(request(asking(true, false), &up)).await;
    assert_eq!(run.response().status, Status::Completed);
    assert_eq!(paths(run.losses()), [("text.format", "emulate")]);
    let heard = up.heard(0);
    let ItemBody::Message(told) = &heard[1].body else { panic!() };
    assert_eq!((heard.len(), told.role), (3, Role::Developer));
    assert!(told.parts[0].as_text().unwrap().contains(SCHEMA));
    assert!(up.calls.lock().unwrap()[0].turn.settings.tools.is_empty());
}

#[tokio::test]
async fn a_broken_promise_is_mended_once_where_nothing_was_shown() {
    let up = Arc::new(target(Hold::Part).plays(answer("no")).plays(answer("{}")));
    let (run, shown) = World::new().run(request(asking(true, false), &up)).await;
    let response = run.response();
    assert_eq!((response.status, said(response).as_str()), (Status::Completed, "{}"));
    let spent = response.usage.as_ref().unwrap();
    assert_eq!((spent.input_total, spent.output_total), (6, 4));
    assert!(!shown.iter().any(|event| matches!(event, Event::TextDelta { delta, .. } if delta == "no")));
    assert_eq!(paths(run.losses()), [("text.format", "emulate")]);
    let heard = up.heard(1);
    let ItemBody::Message(wrong) = &heard[2].body else { panic!() };
    assert_eq!((wrong.role, wrong.parts[0].as_text()), (Role::Assistant, Some("no")));
    let ItemBody::Message(asked) = &heard[3].body else { panic!() };
    assert!(asked.parts[0].as_text().unwrap().contains("it is no object"));
    // By a call, too.
    let up = Arc::new(target(Hold::Call).plays(call("[1]")).plays(call("{}")));
    let (run, _) = World::new().run(request(asking(true, false), &up)).await;
    assert_eq!((run.response().status, said(run.response()).as_str()), (Status::Completed, "{}"));
}

#[tokio::test]
async fn a_strict_promise_never_ends_broken() {
    for (hold, streamed, calls) in
        [(Hold::Part, false, 2), (Hold::Words, false, 2), (Hold::Part, true, 1), (Hold::Words, true, 1)]
    {
        let up = Arc::new(target(hold).plays(answer("no")).plays(answer("no again")));
        let (run, _) = World::new().run(request(asking(true, streamed), &up)).await;
        assert_eq!((run.response().status, up.count()), (Status::Failed, calls), "{hold:?} {streamed}");
        assert!(code(run.response()).unwrap().contains("does not match the schema"));
    }
    // The upstream that cannot be asked again is what ends it.
    let up = Arc::new(target(Hold::Part).plays(answer("no")).fails(Error::upstream("gone")));
    let (run, _) = World::new().run(request(asking(true, false), &up)).await;
    assert_eq!((run.response().status, code(run.response())), (Status::Failed, Some("gone")));
}

#[tokio::test]
async fn what_is_not_strict_is_told_and_an_answer_that_was_cut_short_promised_nothing() {
    for streamed in [false, true] {
        let up = Arc::new(target(Hold::Words).plays(answer("no")));
        let (run, _) = World::new().run(request(asking(false, streamed), &up)).await;
        assert_eq!((run.response().status, up.count()), (Status::Completed, 1));
        assert_eq!(paths(run.losses()), [("text.format", "emulate"), ("text.format", "warn")]);
        let mut cut = answer("{\"a\":");
        cut.pop();
        cut.push(finish(FinishReason::Length));
        let up = Arc::new(target(Hold::Part).plays(cut));
        let (run, _) = World::new().run(request(asking(true, streamed), &up)).await;
        assert_eq!((run.response().status, up.count()), (Status::Incomplete, 1));
    }
}

#[tokio::test]
async fn a_target_that_holds_is_left_alone() {
    let up = Arc::new(target(Hold::Whole).plays(answer("no")));
    let (run, _) = World::new().run(request(asking(true, false), &up)).await;
    assert_eq!((run.response().status, run.losses().len(), up.count()), (Status::Completed, 0, 1));
    assert!(up.calls.lock().unwrap()[0].turn.settings.output.format.is_some());
}

#[tokio::test]
async fn what_cannot_be_promised_is_refused_before_anything_is_sent() {
    let world = World::new();
    let mut with_tools = asking(true, false);
    Arc::make_mut(&mut with_tools.settings).tools.push(function_tool("f"));
    let mut unready = asking(true, false);
    let settings = Arc::make_mut(&mut unready.settings);
    if let Some(TextFormat::JsonSchema(format)) = &mut settings.output.format {
        format.schema = Some(Json::from_checked(r#"{"unready":1}"#));
    }
    for (turn, hold, param) in [
        (with_tools.clone(), Hold::Call, "text.format"),
        (with_tools.clone(), Hold::Words, "text.format"),
        (unready.clone(), Hold::Part, "text.format.schema"),
    ] {
        let up = Arc::new(target(hold));
        let error = world.start(request(turn, &up)).await.err().unwrap();
        assert_eq!((error.param.as_deref(), up.count()), (Some(param), 0));
    }
    // Tools that may not be called are not in the way, and JSON mode is told in words beside those that may.
    Arc::make_mut(&mut with_tools.settings).tool_choice = Some(ToolChoice::None);
    let up = Arc::new(target(Hold::Call).plays(call("{}")));
    let (run, _) = world.run(request(with_tools.clone(), &up)).await;
    assert_eq!((run.response().status, said(run.response()).as_str()), (Status::Completed, "{}"));
    let settings = Arc::make_mut(&mut with_tools.settings);
    (settings.tool_choice, settings.output.format) = (None, Some(TextFormat::JsonObject));
    let up = Arc::new(target(Hold::Call).plays(answer("{}")));
    let (run, _) = world.run(request(with_tools, &up)).await;
    assert_eq!((run.response().status, up.heard(0).len()), (Status::Completed, 3));
}
