//! Recorded streams with a field left out or empty, or a frame said twice: never a panic or a stream out of order, and
//! where the field is one that upstreams leave out, the same answer.

use std::collections::HashMap;

use serde_json::Value;
use trilith_core::{DialectId, Response, StreamOptions};
use trilith_dialect::NameMap;
use trilith_testkit::{
    order,
    pipeline::{self, Heard},
};

use crate::{
    properties::{content, play},
    recorded::{Recorded, answers, talking},
};

/// How often a change of one kind is tried; the streams resemble each other.
const MOST: usize = 2;

const STREAM: StreamOptions =
    StreamOptions { stream: true, include_usage: true, include_obfuscation: Some(false) };

/// Fields that some upstream leaves out or sends as null, by the word before the last dot and the last word of their
/// path. What they say is known without them.
fn optional(dialect: DialectId, parent: &str, field: &str) -> bool {
    match dialect {
        DialectId::Chat => matches!(
            (parent, field),
            ("", "object" | "usage")
                | ("choices", "logprobs" | "finish_reason" | "delta")
                | ("delta", "role" | "content" | "refusal")
                | ("tool_calls", "type")
                | ("usage", "total_tokens")
        ),
        DialectId::Responses => matches!(
            (parent, field),
            ("", "sequence_number" | "logprobs" | "item_id") | ("usage", "total_tokens") | ("item", "status")
        ),
        DialectId::Messages => matches!(
            (parent, field),
            ("message", "type" | "role" | "stop_reason" | "stop_sequence" | "content")
                | ("delta", "stop_sequence")
                | ("usage", "server_tool_use" | "service_tier")
        ),
        _ => false,
    }
}

/// The frames of a stream, each with the blank line that ends it.
fn frames(stream: &str) -> Vec<String> {
    stream.split_inclusive("\n\n").map(str::to_owned).collect()
}

fn data(frame: &str) -> Option<(&str, Value)> {
    let at = frame.find("data: {")?;
    Some((&frame[..at], serde_json::from_str(frame[at + 6..].trim_end()).ok()?))
}

/// Where objects have members: the path to each, and whether it is an optional one.
fn members(value: &Value, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(name, child)| (name.clone(), child)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(at, child)| (at.to_string(), child)).collect(),
        _ => return,
    };
    for (name, child) in children {
        path.push(name);
        if value.is_object() {
            found.push(path.clone());
        }
        members(child, path, found);
        path.pop();
    }
}

fn without(value: &Value, path: &[String], null: bool) -> Value {
    let mut value = value.clone();
    let (last, above) = path.split_last().unwrap();
    let above = above.iter().fold(String::new(), |pointer, name| format!("{pointer}/{name}"));
    let object = value.pointer_mut(&above).unwrap().as_object_mut().unwrap();
    if null {
        object.insert(last.clone(), Value::Null);
    } else {
        object.shift_remove(last);
    }
    value
}

/// The word before the last one, numbers left out.
fn parent(path: &[String]) -> &str {
    let words = path[..path.len() - 1].iter().rev();
    words.map(String::as_str).find(|word| word.parse::<usize>().is_err()).unwrap_or("")
}

struct Changed {
    what: String,
    /// The change without its place.
    kind: String,
    stream: String,
    /// It says the same as before.
    same: bool,
}

fn changed(recorded: &Recorded, stream: &str) -> Vec<Changed> {
    let frames = frames(stream);
    let mut all = Vec::new();
    let with = |at: usize, frame: String| {
        let mut frames = frames.clone();
        frames[at] = frame;
        frames.concat()
    };
    for (at, frame) in frames.iter().enumerate() {
        let Some((head, value)) = data(frame) else { continue };
        let mut paths = Vec::new();
        members(&value, &mut Vec::new(), &mut paths);
        for path in paths {
            let (field, parent) = (path.last().unwrap(), parent(&path));
            for null in [false, true] {
                let what = format!("frame {at} {} {}", if null { "null" } else { "without" }, path.join("."));
                let said = value.pointer(&format!("/{}", path.join("/"))).unwrap();
                let gone = says_nothing(field, said);
                let same = gone && optional(recorded.dialect.id(), parent, field);
                let stream = with(at, format!("{head}data: {}\n\n", without(&value, &path, null)));
                let words = path.iter().filter(|word| word.parse::<usize>().is_err());
                let kind =
                    words.fold(format!("{null} {}", value["type"]), |kind, word| format!("{kind}.{word}"));
                all.push(Changed { what, kind, stream, same });
            }
        }
        all.push(Changed {
            what: format!("frame {at} twice"),
            kind: format!("{} twice", value["type"]),
            stream: with(at, format!("{frame}{frame}")),
            same: is_said_once(&value),
        });
    }
    all
}

/// Whether a field of that name says nothing with that value which is not known without it.
fn says_nothing(field: &str, value: &Value) -> bool {
    match field {
        "content" | "refusal" | "finish_reason" | "stop_reason" | "stop_sequence" | "delta" | "usage"
        | "logprobs" => {
            matches!(value, Value::Null)
                || matches!(value.as_str(), Some(""))
                || matches!(value.as_array(), Some(list) if list.is_empty())
        }
        "status" => value != "incomplete",
        _ => true,
    }
}

/// Whether the frame says nothing more when it is said twice.
fn is_said_once(frame: &Value) -> bool {
    let kind = frame["type"].as_str().unwrap_or_default();
    matches!(kind, "response.created" | "response.in_progress" | "ping" | "message_start")
}

fn hear(recorded: &Recorded, stream: &str) -> Heard {
    pipeline::hear_stream(recorded.dialect, NameMap::default(), stream.as_bytes(), &[])
}

fn check(recorded: &Recorded, before: &Response, changed: &Changed) -> Result<(), String> {
    let heard = hear(recorded, &changed.stream);
    if changed.same
        && let Some(fault) = &heard.fault
    {
        return Err(format!("{}: {fault:?}", changed.what));
    }
    let played = play(heard);
    if changed.same && content(&played.response) != content(before) {
        let (now, before) = (content(&played.response), content(before));
        return Err(format!("{}: another answer\n{now}\n  instead of\n{before}", changed.what));
    }
    for client in talking() {
        let stream = pipeline::write_stream(client, STREAM, &played.events)?;
        order::check(client.id(), &stream)
            .map_err(|why| format!("{} to {}: {why}", changed.what, client.id().name()))?;
    }
    Ok(())
}

#[test]
fn a_field_left_out_or_a_frame_said_twice_breaks_nothing() {
    let (mut faults, mut seen, mut tried) = (Vec::new(), HashMap::new(), 0);
    for recorded in answers().iter().filter(|recorded| recorded.streamed) {
        let Ok(stream) = std::str::from_utf8(&recorded.bytes) else { continue };
        let stream = stream.replace("\r\n", "\n");
        let before = hear(recorded, &stream);
        let whole = before.fault.is_none();
        let before = play(before).response;
        for mut changed in changed(recorded, &stream) {
            let times: &mut usize = seen.entry((recorded.dialect.id(), changed.kind.clone())).or_default();
            *times += 1;
            if *times > MOST {
                continue;
            }
            tried += 1;
            changed.same &= whole;
            if let Err(why) = check(recorded, &before, &changed) {
                faults.push(format!("{}: {why}", recorded.name));
            }
        }
    }
    assert!(faults.is_empty(), "{} of {tried}:\n{}", faults.len(), faults.join("\n"));
}
