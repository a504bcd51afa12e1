//! Properties that hold for any text, any cut and any bytes.

use proptest::prelude::*;
use serde_json::json;
use trilith_core::{ItemBody, Response};

use super::{
    order,
    support::{created, fold, lifecycle, read, stream},
};
use crate::{dialect::Dialect, names::NameMap, responses::Responses};

fn answer() -> impl Strategy<Value = serde_json::Value> {
    let text = "[ -~éß🌍\"\\\\\n\t\u{0}]{0,24}";
    let message = (text, proptest::bool::ANY).prop_map(|(text, refuses)| {
        let part = if refuses {
            json!({"type": "refusal", "refusal": text})
        } else {
            json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
        };
        json!({"type": "message", "role": "assistant", "status": "completed", "content": [part]})
    });
    let call = (text, "[a-z_]{1,12}").prop_map(|(args, name)| {
        json!({"type": "custom_tool_call", "status": "completed", "call_id": "c", "name": name, "input": args})
    });
    let reasoning = proptest::collection::vec(text, 0..3).prop_map(|texts| {
        let summary: Vec<_> =
            texts.iter().map(|text| json!({"type": "summary_text", "text": text})).collect();
        json!({"type": "reasoning", "summary": summary, "encrypted_content": "gAAAA"})
    });
    let item = prop_oneof![message, call, reasoning];
    proptest::collection::vec(item, 0..4).prop_map(|mut items| {
        for (n, item) in items.iter_mut().enumerate() {
            item["id"] = json!(format!("id_{n}"));
        }
        json!({"id": "resp_up", "status": "completed", "output": items})
    })
}

fn events_of(answer: &serde_json::Value) -> Vec<trilith_core::Event> {
    let mut events = Vec::new();
    Responses.decode_response(answer.to_string().as_bytes(), &NameMap::default(), &mut events).unwrap();
    events
}

fn output(response: &Response) -> Vec<trilith_core::Item> {
    response.output.iter().map(|output| output.item.clone()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn an_answer_survives_being_streamed(answer in answer(), size in 1usize..90) {
        let events = events_of(&answer);
        let expected = fold(events.clone());
        // Without a stored response the carriers are shown too.
        let first = created("resp_x", Default::default(), false);
        let (stream, _) = stream(&lifecycle(first, events, None, 3), Default::default());
        order::check(&stream);
        let (events, end) = read(stream.as_bytes(), size);
        prop_assert!(end.is_ok());
        prop_assert_eq!(output(&fold(events)), output(&expected));
    }

    #[test]
    fn no_request_makes_trouble(text in "[\\[\\]{}:,\"a-z0-9\\\\ .\u{e9}-]{0,60}") {
        let _ = Responses.decode_request(text.as_bytes());
        let body = format!("{{\"model\":\"m\",\"input\":[{text}]}}");
        let strict = serde_json::from_str::<serde_json::Value>(&body).is_ok();
        let ours = crate::tape::Tape::default().read(&body).is_ok();
        // Numbers too large for a float and lone surrogates are well-formed; serde_json refuses to hold them.
        prop_assert!(ours || !strict, "{body}");
        let _ = Responses.decode_request(body.as_bytes());
        let _ = read(format!("data: {text}\n\n").as_bytes(), 7);
        let _ = Responses.decode_error(500, text.as_bytes());
    }

    #[test]
    fn text_keeps_every_character(text in "\\PC{0,40}") {
        let request = json!({"model": "m", "input": text}).to_string();
        let turn = Responses.decode_request(request.as_bytes()).unwrap();
        let ItemBody::Message(message) = &turn.input[0].body else { panic!() };
        prop_assert_eq!(message.parts[0].as_text(), Some(text.as_str()));
    }
}
