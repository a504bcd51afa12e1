//! Requests as clients and upstreams see them.

mod identity;
mod order;
mod read;
mod written;

use serde_json::Value;
use trilith_core::{Error, Headers, Turn};

use super::{decode, encode};
use crate::{ALL_CAPABILITIES, Capabilities, Encoded, Quirks, Target};

fn version(of: &str) -> Headers {
    vec![("anthropic-version".into(), of.into())]
}

fn read(body: &Value) -> Result<Turn, Error> {
    read_as("2023-06-01", body)
}

fn read_as(of: &str, body: &Value) -> Result<Turn, Error> {
    decode(&version(of), body.to_string().as_bytes())
}

fn write(turn: &Turn) -> Result<(Value, Encoded), Error> {
    write_for(turn, &ALL_CAPABILITIES)
}

fn write_for(turn: &Turn, can: &Capabilities) -> Result<(Value, Encoded), Error> {
    let quirks = Quirks::default();
    let encoded = encode(turn, &Target { model: "up", stream: turn.stream.stream, quirks: &quirks, can })?;
    Ok((serde_json::from_slice(&encoded.body).unwrap(), encoded))
}

/// The paths of what was told, with what was done about each.
fn told(encoded: &Encoded) -> Vec<(&str, &'static str)> {
    encoded.losses.iter().map(|loss| (&*loss.path, loss.disposition.name())).collect()
}
