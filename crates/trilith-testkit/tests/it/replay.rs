//! Every recorded answer becomes the history of the next request, as each kind of client keeps it, to every kind of
//! upstream: calls and results stay in pairs, and what was said is still there.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Value, json};
use trilith_core::{DialectId, ItemBody, Part, PartKind, Response, Role, Settings, Turn};
use trilith_dialect::{ALL_CAPABILITIES, Dialect, NameMap, Quirks, Target};
use trilith_testkit::pipeline::{self, Played};

use crate::recorded::{Recorded, answers, talking};

pub(crate) fn played(recorded: &Recorded) -> Played {
    let names = NameMap::default();
    let heard = match recorded.streamed {
        true => pipeline::hear_stream(recorded.dialect, names, &recorded.bytes, &[]),
        false => pipeline::hear_whole(recorded.dialect, &names, &recorded.bytes),
    };
    let settings = Arc::new(Settings { model: "m".into(), ..Settings::default() });
    pipeline::play(&settings, heard).unwrap_or_else(|why| panic!("{}: {why}", recorded.name))
}

/// The request with which a client of that dialect goes on after the answer, its tools' results included. `None`
/// where there is nothing to go on from.
fn next_request(client: DialectId, answer: &Value) -> Option<Value> {
    match client {
        DialectId::Chat => {
            let message = answer["choices"].as_array()?.first()?["message"].clone();
            let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
            let mut messages = vec![json!({"role": "user", "content": "hi"}), message];
            messages.extend(
                calls
                    .iter()
                    .map(|call| json!({"role": "tool", "tool_call_id": call["id"], "content": "result"})),
            );
            messages.push(json!({"role": "user", "content": "on"}));
            Some(json!({"model": "m", "messages": messages}))
        }
        DialectId::Responses => {
            let output = answer["output"].as_array()?;
            let mut input = vec![json!({"role": "user", "content": "hi"})];
            input.extend(output.iter().cloned());
            for item in output {
                let kind = item["type"].as_str()?;
                if matches!(kind, "function_call" | "custom_tool_call") {
                    let kind = format!("{kind}_output");
                    input.push(json!({"type": kind, "call_id": item["call_id"], "output": "result"}));
                }
            }
            input.push(json!({"role": "user", "content": "on"}));
            Some(json!({"model": "m", "input": input}))
        }
        DialectId::Messages => {
            let content = answer["content"].as_array()?;
            let mut messages = vec![json!({"role": "user", "content": "hi"})];
            let mut said: Vec<Value> = content
                .iter()
                .filter(|block| block["type"] == "tool_use")
                .map(|call| json!({"type": "tool_result", "tool_use_id": call["id"], "content": "result"}))
                .collect();
            if !content.is_empty() {
                messages.push(json!({"role": "assistant", "content": content}));
            }
            said.push(json!({"type": "text", "text": "on"}));
            messages.push(json!({"role": "user", "content": said}));
            Some(json!({"model": "m", "max_tokens": 9, "messages": messages}))
        }
        _ => None,
    }
}

/// What the assistant said in words, a message each.
fn said(items: &[ItemBody]) -> Vec<String> {
    let word = |part: &Part| match &part.kind {
        PartKind::Text(text) => text.text.clone(),
        PartKind::Refusal(text) => text.clone(),
        _ => String::new(),
    };
    let messages = items.iter().filter_map(|item| match item {
        ItemBody::Message(message) if message.role == Role::Assistant => Some(&message.parts),
        _ => None,
    });
    messages.map(|parts| parts.iter().map(word).collect()).collect()
}

/// Whether all of `before` is in `after`, in its order. A hosted tool's work may be told in words between them.
fn holds(after: &[String], before: &[String]) -> bool {
    let after = after.concat();
    let mut rest = after.as_str();
    before.iter().all(|text| match rest.split_once(text.as_str()) {
        Some((_, left)) => {
            rest = left;
            true
        }
        None => false,
    })
}

/// What only some upstreams can take back, and others refuse with the reason: compacted history, and sound that has
/// an id alone.
fn is_closed(item: &ItemBody) -> bool {
    match item {
        ItemBody::Compaction(_) => true,
        ItemBody::Message(message) => {
            message.parts.iter().any(|part| matches!(part.kind, PartKind::Audio(_)))
        }
        _ => false,
    }
}

fn bodies(turn: &Turn) -> Vec<ItemBody> {
    turn.input.iter().map(|item| item.body.clone()).collect()
}

fn output(response: &Response) -> Vec<ItemBody> {
    response.output.iter().map(|output| output.item.body.clone()).collect()
}

/// Every call that the client must answer has one result after it, and every result has its call.
fn pairs(turn: &Turn) -> Result<usize, String> {
    let mut open = BTreeSet::new();
    let mut calls = 0;
    for item in &turn.input {
        match &item.body {
            ItemBody::Call(call) if call.detail.is_none() => {
                let id = call.call_id.clone().ok_or("a call without an id")?;
                if !open.insert(id.clone()) {
                    return Err(format!("the call {id} twice"));
                }
                calls += 1;
            }
            ItemBody::Result(result) if result.detail.is_none() => {
                let id = result.call_id.clone().unwrap_or_default();
                if !open.remove(&id) {
                    return Err(format!("the result {id} has no call"));
                }
            }
            _ => {}
        }
    }
    if open.is_empty() { Ok(calls) } else { Err(format!("no results for {open:?}")) }
}

fn encode(upstream: &dyn Dialect, turn: &Turn) -> Result<Vec<u8>, trilith_core::Error> {
    let quirks = Quirks::default();
    let target = Target { model: "m", stream: false, quirks: &quirks, can: &ALL_CAPABILITIES };
    upstream.encode_request(turn, &target).map(|encoded| encoded.body)
}

/// Goes on after the answer as that client does, to every upstream; how often.
fn replay(client: &dyn Dialect, played: &Played) -> Result<usize, String> {
    let (status, body) = pipeline::write_whole(client, &played.response);
    let answer: Value = serde_json::from_slice(&body).map_err(|why| why.to_string())?;
    if status != 200 || answer.get("status").is_some_and(|status| status == "failed") {
        return Ok(0);
    }
    let Some(request) = next_request(client.id(), &answer) else { return Ok(0) };
    if played.response.output.iter().any(|output| matches!(output.item.body, ItemBody::Opaque(_))) {
        // A client of the upstream's own time knows the item; what it sends passes or is refused by name.
        return Ok(0);
    }
    let turn = client
        .decode_request(request.to_string().as_bytes())
        .map_err(|why| format!("its own answer is refused: {why:?}\n{request}"))?;
    let calls = pairs(&turn)?;
    let several = played.response.output.iter().any(|output| output.choice > 0);
    if !several && !holds(&said(&bodies(&turn)), &said(&output(&played.response))) {
        return Err(format!("the client does not hold what was said: {request}"));
    }
    let closed = turn.input.iter().any(|item| is_closed(&item.body));
    for upstream in talking() {
        let to = upstream.id().name();
        let sent = match encode(upstream, &turn) {
            Ok(sent) => sent,
            Err(_) if closed => continue,
            Err(why) => return Err(format!("to {to}: {why:?}\n{request}")),
        };
        let shown = || format!("{}\n{request}", String::from_utf8_lossy(&sent));
        let read = upstream.decode_request(&sent).map_err(|why| format!("to {to}: {why:?}\n{}", shown()))?;
        let again = pairs(&read).map_err(|why| format!("to {to}: {why}\n{}", shown()))?;
        if again != calls || !holds(&said(&bodies(&read)), &said(&bodies(&turn))) {
            return Err(format!("to {to}: something is missing\n{}", shown()));
        }
    }
    Ok(talking().count())
}

#[test]
fn every_answer_can_be_the_history_of_every_upstream() {
    let (mut replayed, mut faults) = (0, Vec::new());
    for recorded in answers() {
        let played = played(&recorded);
        for client in talking() {
            match replay(client, &played) {
                Ok(times) => replayed += times,
                Err(why) => {
                    faults.push(format!("{} as {} keeps it: {why}", recorded.name, client.id().name()))
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    assert!(replayed > 1000, "only {replayed}");
}

#[test]
fn tokens_are_counted_alike_for_every_client() {
    for recorded in answers() {
        let played = played(&recorded);
        let Some(usage) = played.response.usage.clone().filter(|usage| !usage.estimated) else { continue };
        for client in talking() {
            let (status, body) = pipeline::write_whole(client, &played.response);
            if status != 200 {
                continue;
            }
            let heard = pipeline::hear_whole(client, &NameMap::default(), &body);
            let settings = Arc::new(Settings { model: "m".into(), ..Settings::default() });
            let read = pipeline::play(&settings, heard).unwrap().response.usage.clone().unwrap_or_default();
            assert_eq!(
                (read.input_total, read.output_total, read.cache_read),
                (usage.input_total, usage.output_total, usage.cache_read),
                "{} to {}",
                recorded.name,
                client.id().name()
            );
        }
    }
}
