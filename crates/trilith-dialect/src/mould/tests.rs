use proptest::prelude::*;
use serde_json::{Value, json};
use trilith_core::{Error, Event};

use super::{Mould, Open};
use crate::{Dialect, NameMap, chat::Chat, responses::Responses};

fn mould() -> Mould {
    let payload = r#"{"n":4,"delta":"tok","pad":"xx","end":1}"#;
    let range = |part: &str| payload.find(part).map(|at| at..at + part.len()).unwrap();
    let mut mould = Mould::default();
    let open =
        [(range("\"tok\""), Open::Wanted), (range("4"), Open::Number), (range("\"xx\""), Open::String)];
    mould.set(payload, &mut open.clone());
    mould
}

#[test]
fn what_fits_gives_its_text() {
    let mould = mould();
    for (payload, text) in [
        (r#"{"n":4,"delta":"tok","pad":"xx","end":1}"#, "tok"),
        (r#"{"n":0,"delta":"","pad":"","end":1}"#, ""),
        (r#"{"n":120,"delta":"a\"}\u00e9\n","pad":"\\","end":1}"#, "a\"}é\n"),
    ] {
        assert_eq!(mould.fill(payload).as_deref(), Some(text), "{payload}");
    }
}

#[test]
fn what_does_not_fit_is_left_to_the_parser() {
    let mould = mould();
    for payload in [
        "",
        r#"{"n":4,"delta":"tok","pad":"xx","end":1} "#,
        r#"{"n":4,"delta":"tok","pad":"xx","end":1"#,
        r#"{"n":04,"delta":"tok","pad":"xx","end":1}"#,
        r#"{"n":,"delta":"tok","pad":"xx","end":1}"#,
        r#"{"n":-4,"delta":"tok","pad":"xx","end":1}"#,
        r#"{"n":4.5,"delta":"tok","pad":"xx","end":1}"#,
        r#"{"n":4,"delta":null,"pad":"xx","end":1}"#,
        r#"{"n":4,"delta":"tok,"pad":"xx","end":1}"#,
        r#"{"n":4,"delta":"\ud800","pad":"xx","end":1}"#,
        r#"{"n":4,"delta":"tok","pad":"xx","end":2}"#,
        r#"{"n":4,"delta":"tok"}"#,
        "{\"n\":4,\"delta\":\"a\nb\",\"pad\":\"xx\",\"end\":1}",
    ] {
        assert_eq!(mould.fill(payload), None, "{payload}");
    }
    assert_eq!(Mould::default().fill(""), None);
    assert_eq!(Mould::default().fill("{}"), None);
}

/// What a reader makes of the payloads. `varied` gives each another form, so that all are parsed.
fn events(dialect: &dyn Dialect, payloads: &[String], varied: bool) -> (Vec<Event>, Vec<Option<Error>>) {
    let mut reader = dialect.reader(NameMap::default());
    let (mut events, mut outcomes) = (Vec::new(), Vec::new());
    for (number, payload) in payloads.iter().enumerate() {
        let space = if varied { " ".repeat(number) } else { String::new() };
        let data = format!("data: {{{space}{}\n\n", payload.trim_start().trim_start_matches('{'));
        outcomes.push(reader.push(data.as_bytes(), &mut events).err());
    }
    outcomes.push(reader.finish(&mut events).err());
    (events, outcomes)
}

/// Deltas of Chat Completions; nearly all of a stream are of one form, with something else in between.
fn chunk() -> impl Strategy<Value = String> {
    let delta = prop_oneof![
        4 => text().prop_map(|text| json!({"content": text})),
        2 => text().prop_map(|text| json!({"reasoning_content": text})),
        1 => text().prop_map(|text| json!({"content": text, "reasoning_content": "thought"})),
        1 => text().prop_map(|text| json!({"content": text, "refusal": "no"})),
        1 => text().prop_map(|text| json!({"role": "assistant", "content": text, "nested": {"content": "x"}})),
        1 => Just(json!({"content": [{"type": "text", "text": "listed"}]})),
        1 => Just(json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}]})),
    ];
    (delta, 0..2_usize, prop::sample::select(vec!["", "", "", "stop", "length"]), any::<bool>()).prop_map(
        |(delta, index, finish, padded)| {
            let finish = if finish.is_empty() { Value::Null } else { json!(finish) };
            let choice = json!({"index": index, "delta": delta, "logprobs": null, "finish_reason": finish});
            let mut chunk = json!({"id": "x", "object": "chat.completion.chunk", "choices": [choice]});
            if padded {
                chunk["obfuscation"] = json!("pad\"".repeat(index + 1));
            }
            chunk.to_string()
        },
    )
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-zé]{1,6}", any::<String>(), Just("\u{fffd}".to_owned())]
}

/// Events of Responses.
fn event() -> impl Strategy<Value = String> {
    let kinds = vec![
        "output_text.delta",
        "output_text.delta",
        "output_text.delta",
        "reasoning_text.delta",
        "refusal.delta",
        "function_call_arguments.delta",
        "output_text.done",
        "content_part.done",
    ];
    let options = (0..2, any::<u8>(), any::<bool>(), any::<bool>());
    (prop::sample::select(kinds), text(), options).prop_map(
        |(kind, text, (index, number, padded, logprobs))| {
            let mut event = json!({"type": format!("response.{kind}"), "item_id": format!("i{index}"),
            "output_index": index, "content_index": 0, "delta": text, "sequence_number": number});
            if logprobs {
                event["logprobs"] = json!([{"token": "a", "logprob": -1.0}]);
            }
            if padded {
                event["obfuscation"] = json!("x");
            }
            event.to_string()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn chunks_of_the_usual_form_say_what_the_parser_reads(
        chunks in proptest::collection::vec(chunk(), 1..24),
        repeats in 1..4_usize,
    ) {
        let payloads: Vec<String> =
            chunks.into_iter().flat_map(|chunk| std::iter::repeat_n(chunk, repeats)).collect();
        prop_assert_eq!(events(&Chat, &payloads, false), events(&Chat, &payloads, true));
    }

    #[test]
    fn events_of_the_usual_form_say_what_the_parser_reads(
        told in proptest::collection::vec(event(), 1..24),
        repeats in 1..4_usize,
    ) {
        let call = json!({"type": "response.output_item.added", "output_index": 1,
            "item": {"type": "function_call", "id": "i1", "call_id": "c", "name": "f", "arguments": ""}});
        let told = told.into_iter().flat_map(|event| std::iter::repeat_n(event, repeats));
        let payloads: Vec<String> = std::iter::once(call.to_string()).chain(told).collect();
        prop_assert_eq!(events(&Responses, &payloads, false), events(&Responses, &payloads, true));
    }
}
