//! One case against every dialect.

use std::sync::Arc;

use serde_json::{Value, json};
use trilith_core::{DialectId, Loss, Settings, StreamOptions, Turn};
use trilith_dialect::{DIALECTS, Dialect, NameMap};

use super::{Files, upstream::Upstream};
use crate::{
    order,
    pipeline::{self, Heard, Played},
};

/// The request id in rendered errors.
const REQUEST: &str = "req_golden";

/// Runs everything that the case gives.
pub(super) fn run(files: &mut Files) -> Result<(), String> {
    let mut ran = false;
    for from in DIALECTS {
        for to in DIALECTS {
            let pair = format!("{}-to-{}", from.id().name(), to.id().name());
            if from.id() != to.id() {
                ran |= request(files, *from, *to, &pair)?;
            }
            ran |= answer(files, *from, *to, &pair)?;
            ran |= errors(files, *from, *to, &pair)?;
        }
    }
    if ran { Ok(()) } else { Err("the case gives nothing: no request, answer or errors".into()) }
}

fn request(files: &mut Files, from: &dyn Dialect, to: &dyn Dialect, pair: &str) -> Result<bool, String> {
    let Some(body) = files.given(&format!("request.{}.json", from.id().name())) else { return Ok(false) };
    let upstream = Upstream::of(files)?;
    let encoded = from.decode_request(&body).and_then(|turn| {
        to.encode_request(&turn, &upstream.target(turn.stream.stream)).map(|done| (turn, done))
    });
    match encoded {
        Ok((turn, encoded)) => {
            files.expect_json(&format!("{pair}.request.json"), &encoded.body)?;
            if let Err(why) = to.decode_request(&encoded.body) {
                files.fault(format!("{pair}.request.json is no request of {}: {why:?}", to.id().name()));
            }
            let losses = turn.losses.iter().chain(&encoded.losses);
            files.expect(&format!("{pair}.losses.txt"), loss_lines(losses).as_bytes())?;
        }
        Err(error) => {
            let shown = rendered(from, &error)?;
            files.expect_json(&format!("{pair}.refused.json"), shown.to_string().as_bytes())?;
        }
    }
    Ok(true)
}

fn loss_lines<'a>(losses: impl Iterator<Item = &'a Loss>) -> String {
    losses.map(|loss| format!("{} {}: {}\n", loss.disposition.name(), loss.path, loss.why)).collect()
}

fn rendered(dialect: &dyn Dialect, error: &trilith_core::Error) -> Result<Value, String> {
    let mut body = Vec::new();
    let status = dialect.render_error(error, REQUEST, &mut body);
    let body: Value = serde_json::from_slice(&body).map_err(|why| format!("the error is not JSON: {why}"))?;
    Ok(json!({ "status": status, "body": body }))
}

/// What the client asked for, and how tool names changed on the way to the upstream.
fn asked(files: &Files, upstream: &dyn Dialect, client: &dyn Dialect) -> Result<(Turn, NameMap), String> {
    let Some(body) = files.given(&format!("request.{}.json", client.id().name())) else {
        let settings = Arc::new(Settings { model: "m".into(), ..Settings::default() });
        return Ok((Turn { settings, ..Turn::default() }, NameMap::default()));
    };
    let turn = client.decode_request(&body).map_err(|why| format!("the request: {why:?}"))?;
    let model = Upstream::of(files)?;
    let encoded = upstream.encode_request(&turn, &model.target(true)).map_err(|why| format!("{why:?}"))?;
    Ok((turn, encoded.names))
}

fn answer(files: &mut Files, from: &dyn Dialect, to: &dyn Dialect, pair: &str) -> Result<bool, String> {
    let whole = files.given(&format!("answer.{}.json", from.id().name()));
    let stream = files.given(&format!("answer.{}.sse", from.id().name()));
    if whole.is_none() && stream.is_none() {
        return Ok(false);
    }
    let (turn, names) = asked(files, from, to)?;
    let heard_whole = whole.map(|body| pipeline::hear_whole(from, &names, &body));
    let heard_stream = match stream {
        Some(bytes) => Some(hear_cut(files, from, &names, &bytes)?),
        None => None,
    };
    let play = |heard: Option<Heard>| heard.map(|heard| pipeline::play(&turn.settings, heard)).transpose();
    let (whole, stream) = (play(heard_whole)?, play(heard_stream)?);
    if let (Some(whole), Some(stream)) = (&whole, &stream)
        && whole.response != stream.response
    {
        files.fault(format!(
            "{pair}: the whole answer and its stream differ\n  whole:  {:?}\n  stream: {:?}",
            whole.response, stream.response
        ));
    }
    let Some(shown) = whole.as_ref().or(stream.as_ref()) else { return Ok(false) };
    let (status, body) = pipeline::write_whole(to, &shown.response);
    if status == 200 {
        files.expect_json(&format!("{pair}.response.json"), &body)?;
    } else {
        let body: Value = serde_json::from_slice(&body).map_err(|why| why.to_string())?;
        let shown = json!({ "status": status, "body": body });
        files.expect_json(&format!("{pair}.response.json"), shown.to_string().as_bytes())?;
    }
    let losses = to.response_losses(&shown.response);
    if !losses.is_empty() {
        files.expect(&format!("{pair}.response-losses.txt"), loss_lines(losses.iter()).as_bytes())?;
    }
    streamed(files, to, pair, stream.as_ref().unwrap_or(shown), turn.stream)?;
    Ok(true)
}

/// Reads the stream whole and cut at every byte; both must say the same.
fn hear_cut(files: &mut Files, from: &dyn Dialect, names: &NameMap, bytes: &[u8]) -> Result<Heard, String> {
    let heard = pipeline::hear_stream(from, names.clone(), bytes, &[]);
    let cuts: Vec<usize> = (1..bytes.len()).collect();
    let cut = pipeline::hear_stream(from, names.clone(), bytes, &cuts);
    if cut.events != heard.events || cut.fault != heard.fault {
        files.fault("the stream says something else when it is cut at every byte");
    }
    Ok(heard)
}

fn streamed(
    files: &mut Files,
    to: &dyn Dialect,
    pair: &str,
    played: &Played,
    options: StreamOptions,
) -> Result<(), String> {
    let choices = matches!(to.id(), DialectId::Chat | DialectId::Completions);
    let options = StreamOptions {
        stream: true,
        include_usage: options.include_usage || choices && !options.stream,
        include_obfuscation: Some(false),
    };
    let bytes = pipeline::write_stream(to, options, &played.events)?;
    if let Err(why) = order::check(to.id(), &bytes) {
        files.fault(format!("{pair}.response.sse: {why}"));
    }
    files.expect(&format!("{pair}.response.sse"), &bytes)
}

fn errors(files: &mut Files, from: &dyn Dialect, to: &dyn Dialect, pair: &str) -> Result<bool, String> {
    let Some(given) = files.given(&format!("errors.{}.json", from.id().name())) else { return Ok(false) };
    let given: Vec<Value> = serde_json::from_slice(&given).map_err(|why| format!("errors: {why}"))?;
    let mut shown = Vec::new();
    for error in &given {
        let status =
            error.get("status").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok());
        let status = status.ok_or("an error has no status")?;
        let body = match error.get("body") {
            Some(Value::String(text)) => text.clone(),
            Some(body) => body.to_string(),
            None => String::new(),
        };
        let decoded = from.decode_error(status, body.as_bytes());
        let mut entry = rendered(to, &decoded)?;
        if let Some(entry) = entry.as_object_mut() {
            entry.insert("upstream".into(), json!(status));
            entry.insert("retry".into(), json!(format!("{:?}", decoded.retry)));
        }
        shown.push(entry);
    }
    files.expect_json(&format!("{pair}.errors.json"), Value::Array(shown).to_string().as_bytes())?;
    Ok(true)
}
