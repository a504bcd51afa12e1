//! How long a request's input is, by whoever can say.

use std::sync::Arc;

use trilith_core::{
    DialectId, Error, ErrorKind, ErrorOrigin, Item, ItemBody, Json, Loss, Role, Settings, TokenCount, Tool,
    ToolKind,
};

use super::{
    carriers::{envelope, origin},
    events::thought,
    fakes::{Policy, Scripted, World, candidate, request, turn},
};
use crate::Request;

fn place(name: &'static str) -> Scripted {
    Scripted::new(name, DialectId::Responses)
}

fn tokens(tokens: u64) -> Result<Option<TokenCount>, Error> {
    let losses = vec![Loss::warn("seed", "not kept")];
    Ok(Some(TokenCount { tokens, losses, headers: vec![("retry-after".into(), "1".into())] }))
}

fn asks(upstreams: &[&Arc<Scripted>], input: Vec<Item>) -> Request {
    let mut asked = request(turn(input), upstreams[0]);
    asked.candidates = upstreams.iter().map(|upstream| candidate(upstream)).collect();
    asked
}

#[tokio::test]
async fn a_place_that_counts_is_asked_and_nothing_is_kept() {
    let world = World::new();
    let up = Arc::new(place("vendor").counts(tokens(14)));
    let sealed = thought(&envelope("abc", &origin("vendor", "account-1")));
    let counted = world.runtime.count(asks(&[&up], vec![sealed]), &mut Policy::default()).await.unwrap();
    assert_eq!((counted.tokens, counted.place, counted.losses.len()), (14, Some(0), 1));
    assert_eq!(&*counted.headers[0].0, "retry-after");
    let ItemBody::Reasoning(heard) = &up.heard(0)[0].body else { panic!() };
    assert_eq!(&*heard.carriers[0].data, "abc");
    assert!(world.store.begun.lock().unwrap().is_empty());
}

#[tokio::test]
async fn the_next_place_counts_when_the_first_fails() {
    let world = World::new();
    let first = Arc::new(place("one").counts(Err(Error::upstream("broken"))));
    let second = Arc::new(place("two").counts(tokens(7)));
    let mut policy = Policy::of(&[(1, 0)]);
    let counted = world.runtime.count(asks(&[&first, &second], Vec::new()), &mut policy).await.unwrap();
    assert_eq!((counted.tokens, counted.place), (7, Some(1)));
    assert_eq!(policy.log.lines(), ["failed 0 upstream_broken", "answered 1"]);
    let alone = Arc::new(place("one").counts(Err(Error::upstream("broken"))));
    let error = world.runtime.count(asks(&[&alone], Vec::new()), &mut Policy::default()).await.err().unwrap();
    assert_eq!((error.kind, error.origin), (ErrorKind::UpstreamBroken, ErrorOrigin::Upstream));
}

#[tokio::test]
async fn without_a_count_it_is_guessed_from_all_the_text_and_told() {
    let world = World::new();
    let asked = |strict| {
        let up = Arc::new(place("vendor").counts(Ok(None)));
        let mut asked = asks(&[&up], vec![Item::message(Role::User, "x".repeat(40))]);
        let tool = ToolKind::Function {
            name: "f".repeat(10).into(),
            description: Some("d".repeat(20)),
            parameters: Some(Json::from_checked(r#"{"type":"object"}"#)),
            strict: None,
        };
        asked.turn.settings = Arc::new(Settings { tools: vec![Tool::new(tool)], ..Settings::default() });
        asked.strict = strict;
        asked
    };
    let mut policy = Policy::default();
    let counted = world.runtime.count(asked(false), &mut policy).await.unwrap();
    assert_eq!((counted.tokens, counted.place), ((40_u64 + 10 + 20 + 17).div_ceil(4), None));
    let told: Vec<&str> = counted.losses.iter().map(|loss| &*loss.path).collect();
    assert_eq!(told, ["input_tokens"]);
    assert!(policy.log.lines().is_empty(), "a place that was not asked did not answer");
    let error = world.runtime.count(asked(true), &mut policy).await.err().unwrap();
    assert_eq!(error.code.as_deref(), Some("strict_loss"));
}

#[tokio::test]
async fn a_forged_envelope_is_refused() {
    let world = World::new();
    let up = Arc::new(place("vendor"));
    let mut asked = asks(&[&up], vec![thought("tl1.zz")]);
    asked.client = DialectId::Messages;
    let error = world.runtime.count(asked, &mut Policy::default()).await.err().unwrap();
    assert_eq!(error.param.as_deref(), Some("messages"));
    assert_eq!(up.count(), 0);
}
