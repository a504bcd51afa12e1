//! Whatever the items are, what is sent obeys the wire's order, or the request is refused.

use proptest::prelude::*;
use serde_json::Value;
use trilith_core::{
    Call, CallKind, CallResult, Carrier, CarrierKind, DialectId, Item, ItemBody, Json, Opaque, Reasoning,
    ResultOutput, Role, Turn,
};

use super::write_for;
use crate::Capabilities;

fn call(id: u8) -> Item {
    Item::new(ItemBody::Call(Call {
        kind: CallKind::Function,
        call_id: Some(format!("c:{id}").into()),
        name: "f".into(),
        namespace: None,
        args: String::new(),
        caller: None,
        detail: None,
    }))
}

fn result(id: u8) -> Item {
    Item::new(ItemBody::Result(CallResult {
        kind: CallKind::Function,
        call_id: Some(format!("c:{id}").into()),
        name: None,
        namespace: None,
        status: None,
        output: ResultOutput::Text("r".into()),
        caller: None,
        detail: None,
    }))
}

fn items() -> impl Strategy<Value = Vec<Item>> {
    let said = prop::sample::select(vec![Role::User, Role::Assistant, Role::System, Role::Developer]);
    let text = prop::sample::select(vec!["", "x"]);
    let one = prop_oneof![
        4 => (said, text).prop_map(|(role, text)| vec![Item::message(role, text)]),
        1 => Just(vec![Item::new(ItemBody::Reasoning(Reasoning {
            carriers: vec![Carrier { kind: CarrierKind::Signature, data: "s".into(), origin: None }],
            ..Reasoning::default()
        }))]),
        1 => Just(vec![Item::new(ItemBody::Opaque(Opaque {
            dialect: DialectId::Messages,
            kind: "x".into(),
            json: Json::from_checked(r#"{"type":"x"}"#),
        }))]),
        2 => (0..3_u8).prop_map(|id| vec![call(id), result(id)]),
        2 => (0..3_u8).prop_map(|id| vec![call(id), call(id + 3), Item::message(Role::System, "s"), result(id + 3), result(id)]),
        1 => (0..3_u8).prop_map(|id| vec![call(id)]),
        1 => (0..3_u8).prop_map(|id| vec![result(id)]),
    ];
    prop::collection::vec(one, 0..8).prop_map(|lists| lists.concat())
}

fn blocks(message: &Value, kind: &str) -> Vec<Value> {
    let blocks = message["content"].as_array().into_iter().flatten();
    blocks.filter(|block| block["type"] == kind).cloned().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]
    #[test]
    fn every_request_obeys_the_order(input in items(), between in any::<bool>()) {
        let can = Capabilities { system_between_turns: between, prefill: false, ..Capabilities::default() };
        let turn = Turn { input, ..Turn::default() };
        let Ok((body, _)) = write_for(&turn, &can) else { return Ok(()) };
        let messages = body["messages"].as_array().unwrap();
        prop_assert_eq!(&messages[0]["role"], "user");
        prop_assert!(between || messages.iter().all(|message| message["role"] != "system"));
        for pair in messages.windows(2) {
            prop_assert!(pair[0]["role"] != pair[1]["role"] || pair[0]["role"] == "system" , "{body}");
        }
        for (place, message) in messages.iter().enumerate() {
            prop_assert!(message["content"] != "" && message["content"] != Value::Array(Vec::new()));
            let used: Vec<Value> = blocks(message, "tool_use").iter().map(|block| block["id"].clone()).collect();
            if used.is_empty() {
                continue;
            }
            let next = &messages[place + 1];
            let given = blocks(next, "tool_result");
            let answered: Vec<Value> = given.iter().map(|block| block["tool_use_id"].clone()).collect();
            prop_assert_eq!(&used, &answered);
            // They stand first.
            let all = next["content"].as_array().unwrap();
            prop_assert!(all.iter().zip(&given).all(|(left, right)| left == right));
        }
    }
}
