//! The order that streams must keep (openai-checklist §11.2).

use std::collections::HashMap;

use serde_json::Value;

use super::support::data;

#[derive(Default)]
struct Item {
    added: Value,
    texts: HashMap<(String, u64), String>,
    ended: HashMap<(String, u64), bool>,
    deltas: usize,
    done: bool,
}

const LISTS: [(&str, &str, &str, &str); 3] = [
    ("output_text", "content_index", "text", "content"),
    ("reasoning_text", "content_index", "text", "content"),
    ("reasoning_summary_text", "summary_index", "text", "summary"),
];

/// Checks one whole stream.
pub(super) fn check(stream: &str) {
    assert!(stream.ends_with("}\n\ndata: [DONE]\n\n"), "X1");
    assert!(!stream.contains('\r'), "T9");
    let events = data(stream);
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    for (n, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], n, "E1");
    }
    assert_eq!(kinds[0], "response.created", "E2");
    assert_eq!(events[0]["response"]["output"], Value::Array(Vec::new()), "E2");
    assert_eq!(events[0]["response"]["usage"], Value::Null, "E2");
    let terminal = ["response.completed", "response.incomplete", "response.failed"];
    assert_eq!(kinds.iter().filter(|kind| terminal.contains(kind)).count(), 1, "E3");
    assert!(terminal.contains(kinds.last().unwrap()), "E3");
    let mut items: Vec<Item> = Vec::new();
    for event in &events {
        step(&mut items, event);
    }
    let output = events.last().unwrap()["response"]["output"].as_array().unwrap();
    assert_eq!(items.len(), output.len());
    for (item, last) in items.iter().zip(output) {
        assert!(item.done, "every item ends");
        assert_eq!(item.added["id"], last["id"], "E6");
        assert_eq!(item.added["type"], last["type"], "E6");
        assert_eq!(item.added["call_id"], last["call_id"], "E6");
        assert!(last["id"].as_str().is_some_and(|id| !id.is_empty()));
        for ((word, part), text) in &item.texts {
            let Some((.., list)) = LISTS.iter().find(|(known, ..)| known == word) else { continue };
            assert_eq!(last[list][*part as usize]["text"], **text, "E8");
        }
    }
}

fn step(items: &mut Vec<Item>, event: &Value) {
    let kind = event["type"].as_str().unwrap();
    let Some(index) = event.get("output_index").and_then(Value::as_u64) else { return };
    if kind == "response.output_item.added" {
        assert_eq!(index as usize, items.len(), "E5");
        assert!(items.iter().all(|item| item.done), "E21: items take turns");
        items.push(Item { added: event["item"].clone(), ..Item::default() });
        return;
    }
    let item = &mut items[index as usize];
    assert!(!item.done, "E5: nothing follows the end of an item");
    if let Some(id) = event.get("item_id") {
        assert_eq!(*id, item.added["id"], "E6");
    }
    let words: Vec<&str> = kind.split('.').collect();
    match words[..] {
        ["response", "output_item", "done"] => {
            item.done = true;
            assert!(item.ended.values().all(|ended| *ended), "parts end before their item");
            if event["item"]["type"] == "function_call" {
                assert!(item.deltas > 0, "E9");
            }
        }
        ["response", "content_part", "added"] | ["response", "reasoning_summary_part", "added"] => {
            let (list, part) = place(event);
            assert!(item.ended.insert((list, part), false).is_none());
        }
        ["response", "content_part", "done"] | ["response", "reasoning_summary_part", "done"] => {
            assert_eq!(item.ended.insert(place(event), true), Some(false));
        }
        ["response", word, "delta"] if event["delta"].is_string() => {
            item.deltas += 1;
            let part = place(event).1;
            *item.texts.entry((word.into(), part)).or_default() += event["delta"].as_str().unwrap();
        }
        ["response", word, "done"] => {
            let whole =
                ["text", "refusal", "arguments", "input"].iter().find_map(|name| event[name].as_str());
            let text = item.texts.get(&(word.into(), place(event).1)).map_or("", String::as_str);
            assert_eq!(whole, Some(text), "E8");
        }
        _ => {}
    }
}

fn place(event: &Value) -> (String, u64) {
    match event.get("summary_index") {
        Some(index) => ("summary".into(), index.as_u64().unwrap()),
        None => ("content".into(), event.get("content_index").and_then(Value::as_u64).unwrap_or(0)),
    }
}
