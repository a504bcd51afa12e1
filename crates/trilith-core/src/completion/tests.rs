use super::Completion;
use crate::{DialectId, Disposition, Item, ItemBody, Json, Message, Part, PartKind, Role, Turn};

fn asked(completion: Completion) -> Turn {
    let input = vec![Item::message(Role::User, "once")];
    Turn { input, completion: Some(completion), ..Turn::default() }
}

#[test]
fn only_one_plain_text_can_be_answered_in_messages() {
    let none = Completion::default;
    let tokens = PartKind::Opaque { dialect: DialectId::Completions, json: Json::from_checked("[1,2]") };
    let tokens = Message { role: Role::User, parts: vec![Part::new(tokens)], phase: None, name: None };
    let more = vec![vec![Item::message(Role::User, "twice")]];
    for (turn, field) in [
        (asked(Completion { suffix: Some("end".into()), ..none() }), "suffix"),
        (asked(Completion { echo: true, ..none() }), "echo"),
        (asked(Completion { best_of: Some(2), ..none() }), "best_of"),
        (asked(Completion { more_prompts: more, ..none() }), "prompt"),
        (Turn { input: Vec::new(), ..asked(none()) }, "prompt"),
        (Turn { input: vec![Item::new(ItemBody::Message(tokens))], ..asked(none()) }, "prompt"),
    ] {
        let error = turn.check_conversation().unwrap_err();
        assert_eq!(error.param.as_deref(), Some(field));
        assert!(error.public.starts_with(&format!("'{field}' asks for ")), "{error}");
    }
    let plain = asked(Completion { best_of: Some(1), ..none() });
    let told = plain.check_conversation().unwrap().unwrap();
    assert_eq!((&*told.path, told.disposition), ("prompt", Disposition::Emulate));
    assert_eq!(Turn { completion: None, ..plain }.check_conversation(), Ok(None));
}
