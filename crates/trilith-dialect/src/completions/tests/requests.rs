//! What a client may ask for, and how it is told what it may not.

use proptest::prelude::*;
use serde_json::{Value, json};
use trilith_core::{DialectId, PartKind, Turn};

use super::{body, sent_by};
use crate::{Dialect, completions::Completions};

fn decode(mut fields: Value) -> Result<Turn, trilith_core::Error> {
    let object = fields.as_object_mut().unwrap();
    object.entry("model").or_insert(json!("m"));
    object.entry("prompt").or_insert(json!("x"));
    Completions.decode_request(fields.to_string().as_bytes())
}

#[test]
fn every_wrong_field_is_named() {
    let many = vec!["x"; 2049];
    for (fields, param, code) in [
        (json!({"model": null}), "model", "missing_required_parameter"),
        (json!({"model": 5}), "model", "invalid_type"),
        (json!({"prompt": 5}), "prompt", "invalid_type"),
        (json!({"prompt": []}), "prompt", "invalid_value"),
        (json!({"prompt": [[]]}), "prompt[0]", "invalid_value"),
        (json!({"prompt": ["a", 1]}), "prompt[1]", "invalid_type"),
        (json!({"prompt": [1, "a"]}), "prompt[1]", "invalid_type"),
        (json!({"prompt": [[1], "a"]}), "prompt[1]", "invalid_type"),
        (json!({"prompt": [[1], [-1]]}), "prompt[1][0]", "invalid_value"),
        (json!({"prompt": [1.5]}), "prompt[0]", "invalid_type"),
        (json!({"prompt": [4_294_967_296_u64]}), "prompt[0]", "invalid_value"),
        (json!({"prompt": many}), "prompt", "invalid_value"),
        (json!({"prompt": vec!["x"; 17], "n": 128}), "prompt", "invalid_value"),
        (json!({"max_tokens": -1}), "max_tokens", "invalid_value"),
        (json!({"max_tokens": "9"}), "max_tokens", "invalid_type"),
        (json!({"n": 0}), "n", "invalid_value"),
        (json!({"n": 129}), "n", "invalid_value"),
        (json!({"best_of": 21}), "best_of", "invalid_value"),
        (json!({"best_of": 2, "n": 3}), "best_of", "invalid_value"),
        (json!({"best_of": 2, "stream": true}), "best_of", "invalid_value"),
        (json!({"logprobs": 6}), "logprobs", "invalid_value"),
        (json!({"logprobs": true}), "logprobs", "invalid_type"),
        (json!({"echo": "yes"}), "echo", "invalid_type"),
        (json!({"suffix": 1}), "suffix", "invalid_type"),
        (json!({"stop": ["a", "b", "c", "d", "e"]}), "stop", "invalid_value"),
        (json!({"stop": 1}), "stop", "invalid_type"),
        (json!({"temperature": 2.5}), "temperature", "invalid_value"),
        (json!({"top_p": -0.5}), "top_p", "invalid_value"),
        (json!({"presence_penalty": 3}), "presence_penalty", "invalid_value"),
        (json!({"frequency_penalty": -3}), "frequency_penalty", "invalid_value"),
        (json!({"logit_bias": []}), "logit_bias", "invalid_value"),
        (json!({"seed": 0.5}), "seed", "invalid_type"),
        (json!({"user": 1}), "user", "invalid_type"),
        (json!({"stream": 1}), "stream", "invalid_type"),
        (json!({"stream_options": {"include_usage": true}}), "stream_options", "invalid_value"),
        (
            json!({"stream": true, "stream_options": {"include_usage": 1}}),
            "stream_options.include_usage",
            "invalid_type",
        ),
    ] {
        let shown = fields.to_string();
        let error = decode(fields).unwrap_err();
        assert_eq!(
            (error.param.as_deref(), error.code.as_deref()),
            (Some(param), Some(code)),
            "{shown:.90} {error}"
        );
        assert!(error.public.contains(param), "{error}");
    }
}

#[test]
fn silence_means_what_the_wire_says() {
    let turn = Completions.decode_request(br#"{"model":"m"}"#).unwrap();
    assert_eq!(turn.input, []);
    assert_eq!(turn.settings.limits.max_output_tokens, Some(16));
    assert_eq!(
        body(&sent_by(&Completions, &turn).unwrap()),
        json!({"model": "m", "prompt": null, "max_tokens": 16})
    );
    let same = decode(json!({
        "best_of": 0, "suffix": "", "stop": null, "n": null, "logprobs": null, "echo": null, "prompt": null,
    }));
    assert_eq!(same, Ok(turn));
}

#[test]
fn one_prompt_in_a_list_is_one_prompt() {
    for (list, one) in [(json!(["x"]), json!("x")), (json!([[1, 2]]), json!([1, 2]))] {
        assert_eq!(decode(json!({"prompt": list})), decode(json!({"prompt": one})));
    }
    let turn = decode(json!({"prompt": [7, 8]})).unwrap();
    let trilith_core::ItemBody::Message(message) = &turn.input[0].body else { panic!() };
    assert!(
        matches!(&message.parts[0].kind, PartKind::Opaque { dialect: DialectId::Completions, json } if json.as_str() == "[7,8]")
    );
}

fn prompts() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<String>().prop_map(|text| json!(text)),
        proptest::collection::vec(any::<String>(), 1..5).prop_map(|texts| json!(texts)),
        proptest::collection::vec(any::<u32>(), 1..9).prop_map(|ids| json!(ids)),
        proptest::collection::vec(proptest::collection::vec(any::<u32>(), 1..5), 1..5)
            .prop_map(|lists| json!(lists)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_is_understood_is_said_again_and_understood_the_same(
        prompt in prompts(),
        suffix in proptest::option::of("[a-z]{1,4}"),
        echo: bool,
        n in 1_u32..4,
        drawn in proptest::option::of(4_u32..9),
        most in 0_u64..99,
        logprobs in proptest::option::of(0_u32..6),
        stop in proptest::collection::vec("[a-z]{1,3}", 0..5),
    ) {
        let fields = json!({
            "prompt": prompt, "suffix": suffix, "echo": echo, "n": n, "best_of": drawn, "max_tokens": most,
            "logprobs": logprobs, "stop": stop, "x_vendor": {"b": 1, "a": 1.50},
        });
        let turn = decode(fields).unwrap();
        let encoded = sent_by(&Completions, &turn).unwrap();
        prop_assert!(encoded.losses.is_empty());
        prop_assert_eq!(&Completions.decode_request(&encoded.body).unwrap(), &turn);
        let again = sent_by(&Completions, &turn).unwrap();
        prop_assert_eq!(encoded.body, again.body);
    }
}
