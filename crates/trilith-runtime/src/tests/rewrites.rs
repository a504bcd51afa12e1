//! Requests that a target cannot take as they are: rewritten, answered in its place, or asked again.

use std::sync::Arc;

use trilith_core::{
    Abilities, Call, CallKind, CallResult, DialectId, Disposition, Error, ErrorKind, ErrorOrigin, Event,
    FinishReason, Item, ItemBody, Message, Part, ResultOutput, ResultStatus, Role, Settings, Shows, Status,
    ToolChoice, Truncation, Turn,
};

use super::{
    events::{done, finish, part_done, saying, usage},
    fakes::{Scripted, World, request, turn, unstored},
};
use crate::Request;

fn with(input: Vec<Item>, change: impl FnOnce(&mut Settings)) -> Turn {
    let mut turn = unstored(turn(input));
    change(Arc::make_mut(&mut turn.settings));
    turn
}

fn answer() -> Vec<Event> {
    let mut events = saying("one END two");
    events.extend([part_done(0, 0), done(0), usage(1, 1), finish(FinishReason::Stop)]);
    events
}

fn place(can: Abilities) -> Scripted {
    Scripted::new("vendor", DialectId::Chat).can(can)
}

fn says(role: Role, text: &str) -> Item {
    Item::new(ItemBody::Message(Message { role, parts: vec![Part::text(text)], phase: None, name: None }))
}

fn call(id: &str) -> Item {
    Item::new(ItemBody::Call(Call {
        kind: CallKind::Function,
        call_id: Some(id.into()),
        name: "look".into(),
        namespace: None,
        args: "{}".into(),
        caller: None,
        detail: None,
    }))
}

fn result(id: &str) -> Item {
    Item::new(ItemBody::Result(CallResult {
        kind: CallKind::Function,
        call_id: Some(id.into()),
        name: None,
        status: Some(ResultStatus::Ok),
        namespace: None,
        caller: None,
        output: ResultOutput::Text("seen".into()),
        detail: None,
    }))
}

fn told(items: &[Item]) -> Vec<String> {
    let told = |item: &Item| match &item.body {
        ItemBody::Message(message) => message.parts.iter().filter_map(Part::as_text).collect(),
        ItemBody::Call(call) => format!("call {}", call.call_id.as_deref().unwrap_or("?")),
        ItemBody::Result(result) => format!("result {}", result.call_id.as_deref().unwrap_or("?")),
        other => format!("{other:?}"),
    };
    items.iter().map(told).collect()
}

fn too_long() -> Error {
    Error::new(ErrorKind::ContextTooLong, ErrorOrigin::Caller, "too long")
}

fn conversation() -> Vec<Item> {
    vec![
        says(Role::System, "be kind"),
        says(Role::User, "one"),
        call("a"),
        call("b"),
        result("a"),
        says(Role::Developer, "be brief"),
        says(Role::User, "two"),
        result("b"),
        says(Role::Assistant, "well"),
        says(Role::User, "three"),
        call("a"),
        result("a"),
        says(Role::User, "four"),
    ]
}

#[tokio::test]
async fn the_oldest_turns_are_left_out_until_the_conversation_fits() {
    let world = World::new();
    let cannot = Abilities { truncation: false, ..Abilities::ALL };
    let place = Arc::new(place(cannot).fails(too_long()).fails(too_long()).plays(answer()));
    let automatic = |settings: &mut Settings| settings.truncation = Some(Truncation::Auto);
    let (run, _) = world.run(request(with(conversation(), automatic), &place)).await;
    assert_eq!(run.response().status, Status::Completed);
    assert_eq!(told(&place.heard(0)), told(&conversation()));
    // The platform's words stay, pairs go together, and an id that is used again is another's.
    let second = ["be kind", "be brief", "two", "well", "three", "call a", "result a", "four"];
    assert_eq!(told(&place.heard(1)), second);
    assert_eq!(told(&place.heard(2)), ["be kind", "be brief", "three", "call a", "result a", "four"]);
    let losses: Vec<_> = run.losses().iter().map(|loss| (&*loss.path, loss.disposition)).collect();
    assert_eq!(losses, [("truncation", Disposition::Emulate), ("input", Disposition::Emulate)]);
    assert!(run.losses()[1].why.contains("7 items"), "{:?}", run.losses());
}

#[tokio::test]
async fn the_last_turn_is_never_left_out_and_nothing_is_without_the_wish() {
    let cannot = Abilities { truncation: false, ..Abilities::ALL };
    let table = [
        (
            vec![says(Role::System, "a"), says(Role::User, "b"), says(Role::User, "c")],
            Some(Truncation::Auto),
            1,
        ),
        (
            vec![says(Role::User, "b"), says(Role::Assistant, "x"), says(Role::User, "c")],
            Some(Truncation::Auto),
            2,
        ),
        (conversation(), Some(Truncation::Disabled), 1),
        (conversation(), None, 1),
    ];
    for (input, truncation, calls) in table {
        let world = World::new();
        let place = Arc::new((0..9).fold(place(cannot), |place, _| place.fails(too_long())));
        let turn = with(input, |settings| settings.truncation = truncation);
        let error = world.start(request(turn, &place)).await.err().unwrap();
        assert_eq!((error.kind, place.count()), (ErrorKind::ContextTooLong, calls));
    }
}

#[tokio::test]
async fn several_answers_are_shortened_together() {
    let world = World::new();
    let cannot = Abilities { truncation: false, several_answers: false, ..Abilities::ALL };
    let place = place(cannot).plays(answer()).fails(too_long()).plays(answer()).plays(answer());
    let place = Arc::new(place);
    let turn = with(conversation(), |settings| {
        settings.truncation = Some(Truncation::Auto);
        settings.sampling.n = Some(2);
    });
    let (run, _) = world.run(request(turn, &place)).await;
    assert_eq!(run.response().finishes.len(), 2);
    assert_eq!(place.heard(2), place.heard(3));
    assert!(place.heard(2).len() < place.heard(0).len());
}

#[tokio::test]
async fn no_output_needs_no_call() {
    let nothing = |settings: &mut Settings| settings.limits.max_output_tokens = Some(0);
    let world = World::new();
    let cannot = Arc::new(place(Abilities { empty_answers: false, ..Abilities::ALL }));
    let turn = with(vec![says(Role::User, "eight by")], nothing);
    let (run, _) = world.run(request(turn, &cannot)).await;
    let response = run.response();
    assert_eq!((cannot.count(), response.output.len()), (0, 0));
    assert_eq!(response.finishes, [Some(FinishReason::Length)]);
    let counted = response.usage.as_ref().unwrap();
    assert_eq!((counted.input_total, counted.output_total, counted.estimated), (2, 0, true));
    let able = Arc::new(place(Abilities::ALL).plays(answer()));
    world.run(request(with(Vec::new(), nothing), &able)).await;
    assert_eq!(able.count(), 1);
}

#[tokio::test]
async fn a_forced_choice_is_left_to_the_model_only_where_the_caller_agreed() {
    let forced = |settings: &mut Settings| settings.tool_choice = Some(ToolChoice::Required);
    let cannot = Abilities { forced_tool_choice: false, ..Abilities::ALL };
    let ask = |can, may_go, strict| {
        let place = Arc::new(place(can).plays(answer()));
        let asked =
            Request { forced_choice_may_go: may_go, strict, ..request(with(Vec::new(), forced), &place) };
        (place, asked)
    };
    // Whoever encodes the request refuses what was not agreed to.
    for (can, may_go, expected) in [
        (cannot, true, ToolChoice::Auto),
        (cannot, false, ToolChoice::Required),
        (Abilities::ALL, true, ToolChoice::Required),
    ] {
        let (place, asked) = ask(can, may_go, false);
        let (run, _) = World::new().run(asked).await;
        assert_eq!(place.calls.lock().unwrap()[0].turn.settings.tool_choice, Some(expected.clone()));
        let warned = run.losses().iter().any(|loss| loss.disposition == Disposition::Warn);
        assert_eq!(warned, expected == ToolChoice::Auto);
    }
    let (place, asked) = ask(cannot, true, true);
    let error = World::new().start(asked).await.err().unwrap();
    assert_eq!((error.code.as_deref(), place.count()), (Some("strict_loss"), 0));
}

#[tokio::test]
async fn a_client_that_is_told_the_stop_string_learns_it_from_any_target() {
    for (names, sent, said) in [(false, 0, "one "), (true, 1, "one END two")] {
        let can = Abilities { names_stop_string: names, ..Abilities::ALL };
        let place = Arc::new(place(can).plays(answer()));
        let turn = with(Vec::new(), |settings| settings.sampling.stop = vec!["END".into()]);
        let asked = Request { shows: Shows { stop_string: true }, ..request(turn, &place) };
        let (run, _) = World::new().run(asked).await;
        assert_eq!(place.calls.lock().unwrap()[0].turn.settings.sampling.stop.len(), sent);
        assert_eq!(told(&[run.response().output[0].item.clone()]), [said]);
        let reason = FinishReason::StopString(Some("END".into()));
        assert_eq!(run.response().finishes[0].as_ref() == Some(&reason), !names);
    }
}
