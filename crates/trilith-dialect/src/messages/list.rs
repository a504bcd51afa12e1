//! The list of models, page by page (dialects §1.1).

use std::ops::Range;

use serde::Serialize;
use trilith_core::Error;

#[derive(Serialize)]
struct List<'a> {
    data: Vec<Model<'a>>,
    has_more: bool,
    first_id: Option<&'a str>,
    last_id: Option<&'a str>,
}

#[derive(Serialize)]
struct Model<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    id: &'a str,
    display_name: &'a str,
    created_at: &'static str,
    lifecycle: &'static str,
}

/// Every model that is listed can be called.
const LIFECYCLE: &str = "active";
const LIFECYCLES: [&str; 3] = [LIFECYCLE, "deprecated", "retired"];

const fn model(id: &str) -> Model<'_> {
    // When a model was made is not known here; the wire wants a date.
    Model { kind: "model", id, display_name: id, created_at: "1970-01-01T00:00:00Z", lifecycle: LIFECYCLE }
}

/// How many models a page has where the client does not say, and the most it may ask for.
const USUAL: usize = 20;
const MOST: usize = 1000;

/// The page of these models that `query` (names and values, without percent signs) asks for.
///
/// # Errors
/// 400: a value is not one that the wire takes, or names a model that is not in the list.
pub fn encode_list(names: &[&str], query: &[(String, String)], out: &mut Vec<u8>) -> Result<(), Error> {
    let value = |name: &str| query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let names = if wants_active(query)? { names } else { &[] };
    let limit = match value("limit") {
        None => USUAL,
        Some(text) => text
            .parse()
            .ok()
            .filter(|limit| (1..=MOST).contains(limit))
            .ok_or_else(|| invalid("limit", &format!("Input should be a number from 1 to {MOST}")))?,
    };
    let place = |name: &str, id: &str| {
        let place = names.iter().position(|own| *own == id);
        place.ok_or_else(|| invalid(name, "no listed model has this id"))
    };
    let (page, has_more): (Range<usize>, bool) = match (value("before_id"), value("after_id")) {
        (Some(_), Some(_)) => return Err(invalid("before_id", "cannot be used together with after_id")),
        (Some(id), None) => {
            let end = place("before_id", id)?;
            let start = end.saturating_sub(limit);
            (start..end, start > 0)
        }
        (None, after) => {
            let start = after.map(|id| place("after_id", id)).transpose()?.map_or(0, |last| last + 1);
            let end = start.saturating_add(limit).min(names.len());
            (start..end, end < names.len())
        }
    };
    let page = names.get(page).unwrap_or_default();
    let list = List {
        data: page.iter().map(|name| model(name)).collect(),
        has_more,
        first_id: page.first().copied(),
        last_id: page.last().copied(),
    };
    // Writing plain strings to memory cannot fail.
    serde_json::to_writer(out, &list).ok();
    Ok(())
}

/// Whether models in use are among those asked for.
fn wants_active(query: &[(String, String)]) -> Result<bool, Error> {
    let mut asked = query.iter().filter(|(key, _)| key == "lifecycle" || key == "lifecycle[]").peekable();
    if asked.peek().is_none() {
        return Ok(true);
    }
    asked.try_fold(false, |active, (_, word)| {
        if LIFECYCLES.contains(&word.as_str()) {
            Ok(active || word == LIFECYCLE)
        } else {
            Err(invalid("lifecycle", &format!("Input should be one of '{}'", LIFECYCLES.join("', '"))))
        }
    })
}

fn invalid(param: &str, why: &str) -> Error {
    Error::bad_request(param, format!("{param}: {why}"))
}

/// One model.
pub fn encode_model(name: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, &model(name)).ok();
}
