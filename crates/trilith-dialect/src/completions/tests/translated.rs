//! Between this dialect and the others (translation contract §10).

use serde_json::{Value, json};
use trilith_core::{Disposition, ErrorKind};

use super::{body, sent_by};
use crate::{
    DIALECTS, Dialect, chat::Chat, completions::Completions, messages::Messages, responses::Responses,
};

fn asked(fields: &Value) -> trilith_core::Turn {
    let mut request = json!({"model": "m", "prompt": "Once upon"});
    request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    Completions.decode_request(request.to_string().as_bytes()).unwrap()
}

#[test]
fn a_prompt_is_one_message_of_a_user_elsewhere() {
    let turn = asked(&json!({"temperature": 0.5, "stop": "END", "user": "u"}));
    let chat = sent_by(&Chat, &turn).unwrap();
    assert_eq!(
        body(&chat),
        json!({
            "model": "m", "messages": [{"role": "user", "content": "Once upon"}], "temperature": 0.5,
            "stop": ["END"], "max_completion_tokens": 16, "user": "u",
        })
    );
    let told: Vec<_> = chat.losses.iter().map(|loss| (&*loss.path, loss.disposition)).collect();
    assert_eq!(told, [("prompt", Disposition::Emulate)]);
    let messages = body(&sent_by(&Messages, &turn).unwrap());
    assert_eq!(
        (&messages["messages"][0]["content"], &messages["max_tokens"]),
        (&json!("Once upon"), &json!(16))
    );
    let responses = body(&sent_by(&Responses, &turn).unwrap());
    assert_eq!(responses["max_output_tokens"], 16);
    assert!(responses["input"].to_string().contains("Once upon"));
}

#[test]
fn what_only_a_completion_server_can_do_is_refused_by_name() {
    for (fields, param) in [
        (json!({"suffix": "end"}), "suffix"),
        (json!({"echo": true}), "echo"),
        (json!({"best_of": 2}), "best_of"),
        (json!({"prompt": [1, 2]}), "prompt"),
        (json!({"prompt": ["a", "b"]}), "prompt"),
        (json!({"prompt": null}), "prompt"),
        (json!({"max_tokens": 0}), "max_tokens"),
    ] {
        let turn = asked(&fields);
        for dialect in DIALECTS.iter().filter(|dialect| dialect.id() != Completions.id()) {
            let error = sent_by(*dialect, &turn).unwrap_err();
            assert_eq!(
                (error.kind, error.param.as_deref()),
                (ErrorKind::BadRequest, Some(param)),
                "{fields}"
            );
            assert!(error.public.contains("whose provider speaks Completions"), "{error}");
        }
        assert!(sent_by(&Completions, &turn).is_ok(), "{fields}");
    }
}

#[test]
fn log_probabilities_are_asked_for_in_the_words_of_chat() {
    for (given, alternatives) in [(json!(0), json!(0)), (json!(3), json!(3))] {
        let sent = body(&sent_by(&Chat, &asked(&json!({"logprobs": given}))).unwrap());
        assert_eq!((&sent["logprobs"], &sent["top_logprobs"]), (&json!(true), &alternatives));
    }
    let error = sent_by(&Messages, &asked(&json!({"logprobs": 0}))).unwrap_err();
    assert_eq!(Completions.respell(error.param.as_deref().unwrap()), "logprobs");
}

/// A request of Chat Completions toward a completion server: what is sent, or the field that is refused.
fn continued(fields: &Value) -> Result<(Value, Vec<String>), String> {
    let mut request = json!({"model": "m", "messages": [{"role": "user", "content": "Once upon"}]});
    request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let turn = Chat.decode_request(request.to_string().as_bytes()).unwrap();
    let encoded = sent_by(&Completions, &turn).map_err(|error| {
        assert_eq!(error.kind, ErrorKind::BadRequest);
        assert!(error.public.contains("applies no chat template"), "{error}");
        Chat.respell(error.param.as_deref().unwrap()).into_owned()
    })?;
    let losses = encoded.losses.iter();
    let told =
        losses.map(|loss| format!("{} {}", loss.disposition.name(), Chat.respell(&loss.path))).collect();
    Ok((body(&encoded), told))
}

#[test]
fn a_lone_text_of_a_conversation_is_continued() {
    let (sent, told) = continued(&json!({})).unwrap();
    assert_eq!(sent, json!({"model": "m", "prompt": "Once upon", "max_tokens": 4096}));
    assert_eq!(told, ["emulate messages"]);
    let parts = json!([{"type": "text", "text": "Once "}, {"type": "text", "text": "upon"}]);
    let (sent, told) = continued(&json!({"messages": [{"role": "user", "content": parts}]})).unwrap();
    assert_eq!(sent["prompt"], "Once upon");
    assert_eq!(told, ["emulate messages[0].content", "emulate messages"]);
    let tuned = json!({
        "max_completion_tokens": 9, "logprobs": true, "top_logprobs": 20, "reasoning_effort": "low", "n": 2,
        "verbosity": "low", "service_tier": "flex", "response_format": {"type": "text"},
        "safety_identifier": "s", "prompt_cache_key": "k",
    });
    let (sent, told) = continued(&tuned).unwrap();
    let wanted =
        json!({"model": "m", "prompt": "Once upon", "max_tokens": 9, "n": 2, "logprobs": 5, "user": "s"});
    assert_eq!(sent, wanted);
    assert_eq!(
        told,
        [
            "emulate messages",
            "warn top_logprobs",
            "warn reasoning_effort",
            "warn verbosity",
            "warn service_tier",
            "hint prompt_cache_key",
        ]
    );
}

#[test]
fn what_needs_a_chat_template_is_refused_by_name() {
    let (user, system) = (json!({"role": "user", "content": "a"}), json!({"role": "system", "content": "s"}));
    let assistant = json!({"role": "assistant", "content": "b"});
    let tool = json!({"type": "function", "function": {"name": "f"}});
    let image = json!({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}});
    for (fields, param) in [
        (json!({"messages": [system]}), "messages[0]"),
        (json!({"messages": [system, user]}), "messages[0]"),
        (json!({"messages": [user, assistant, user]}), "messages"),
        (json!({"messages": [user, user]}), "messages"),
        (json!({"messages": [{"role": "user", "content": [image]}]}), "messages[0].content[0]"),
        (json!({"tools": [tool]}), "tools"),
        (json!({"response_format": {"type": "json_object"}}), "response_format"),
        (json!({"modalities": ["text", "audio"]}), "modalities"),
        (json!({"web_search_options": {}}), "web_search_options"),
    ] {
        assert_eq!(continued(&fields), Err(param.to_owned()), "{fields}");
    }
}

#[test]
fn instructions_of_the_other_dialects_are_refused_in_their_words() {
    let responses = br#"{"model":"m","input":"x","instructions":"be brief"}"#;
    let messages =
        br#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],"system":"be brief"}"#;
    for (dialect, request, param) in [
        (&Responses as &dyn Dialect, responses.as_slice(), "instructions"),
        (&Messages as &dyn Dialect, messages.as_slice(), "system"),
    ] {
        let error = sent_by(&Completions, &dialect.decode_request(request).unwrap()).unwrap_err();
        assert_eq!(dialect.respell(error.param.as_deref().unwrap()), param);
    }
}
