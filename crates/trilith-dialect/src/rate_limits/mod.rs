//! Headers that say how much may still be asked, in the words of one vendor's clients or the other's
//! (translation contract §18): `x-ratelimit-remaining-tokens` and `anthropic-ratelimit-tokens-remaining`.

mod time;

use std::borrow::Cow;

use trilith_core::{DialectId, Headers};

/// Whose words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    OpenAi,
    Anthropic,
}

/// What is limited, as it is spelled in both families.
const THINGS: [&str; 4] = ["requests", "tokens", "input-tokens", "output-tokens"];
const ASPECTS: [&str; 3] = ["limit", "remaining", "reset"];

/// One such header: what it is about, and how it is told.
#[derive(Clone, Debug)]
struct Told<'a> {
    family: Family,
    thing: &'static str,
    aspect: &'static str,
    value: &'a str,
}

/// Whether the name (in lower case) is that of such a header.
pub fn is_limit(name: &str) -> bool {
    parse(name).is_some()
}

fn parse(name: &str) -> Option<(Family, &'static str, &'static str)> {
    let known = |list: &[&'static str], word: &str| list.iter().copied().find(|known| *known == word);
    if let Some(rest) = name.strip_prefix("x-ratelimit-") {
        let (aspect, thing) = rest.split_once('-')?;
        return Some((Family::OpenAi, known(&THINGS, thing)?, known(&ASPECTS, aspect)?));
    }
    let (thing, aspect) = name.strip_prefix("anthropic-ratelimit-")?.rsplit_once('-')?;
    Some((Family::Anthropic, known(&THINGS, thing)?, known(&ASPECTS, aspect)?))
}

const fn family_of(client: DialectId) -> Family {
    match client {
        DialectId::Messages => Family::Anthropic,
        _ => Family::OpenAi,
    }
}

/// The headers for a client of that dialect. `unix_ms` is the time at which they came: one family tells when a
/// limit is whole again, the other after how long. What cannot be read is left out; all other headers stay.
pub fn respell(headers: &Headers, client: DialectId, unix_ms: u64) -> Cow<'_, Headers> {
    let family = family_of(client);
    let is_foreign = |name: &str| parse(name).is_some_and(|(of, ..)| of != family);
    if !headers.iter().any(|(name, _)| is_foreign(name)) {
        return Cow::Borrowed(headers);
    }
    let mut out: Headers = headers.iter().filter(|(name, _)| !is_foreign(name)).cloned().collect();
    let foreign = headers.iter().filter(|(name, _)| is_foreign(name));
    let told: Vec<Told<'_>> = foreign
        .filter_map(|(name, value)| {
            let (family, thing, aspect) = parse(name)?;
            Some(Told { family, thing, aspect, value })
        })
        .collect();
    for (thing, source) in things(&told, family) {
        for told in told.iter().filter(|told| told.thing == source) {
            let name = spell(family, thing, told.aspect);
            if let Some(value) = value(told, unix_ms)
                && !out.iter().any(|(known, _)| **known == *name)
            {
                out.push((name.into(), value.into()));
            }
        }
    }
    Cow::Owned(out)
}

/// Each thing that is told of, and the thing whose numbers tell it. Where only one family tells apart tokens that
/// come in from those that go out, the tighter of the two limits is the limit on tokens.
fn things(told: &[Told<'_>], family: Family) -> Vec<(&'static str, &'static str)> {
    let has = |thing: &str| told.iter().any(|told| told.thing == thing);
    let left = |thing: &str| {
        let left = told.iter().find(|told| told.thing == thing && told.aspect == "remaining");
        left.and_then(|told| told.value.parse::<u64>().ok())
    };
    let mut things: Vec<_> =
        THINGS.into_iter().filter(|thing| has(thing)).map(|thing| (thing, thing)).collect();
    if family == Family::OpenAi {
        things.retain(|(thing, _)| matches!(*thing, "requests" | "tokens"));
        if !has("tokens") {
            let tighter = ["input-tokens", "output-tokens"].into_iter().filter(|thing| has(thing));
            things
                .extend(tighter.min_by_key(|thing| left(thing).unwrap_or(u64::MAX)).map(|of| ("tokens", of)));
        }
    }
    things
}

fn spell(family: Family, thing: &str, aspect: &str) -> String {
    match family {
        Family::OpenAi => format!("x-ratelimit-{aspect}-{thing}"),
        Family::Anthropic => format!("anthropic-ratelimit-{thing}-{aspect}"),
    }
}

/// The value in the words of the other family.
fn value(told: &Told<'_>, unix_ms: u64) -> Option<String> {
    match (told.aspect, told.family) {
        ("reset", Family::Anthropic) => {
            Some(time::write_duration(time::read_date(told.value)?.saturating_sub(unix_ms)))
        }
        ("reset", Family::OpenAi) => {
            Some(time::write_date(unix_ms.saturating_add(time::read_duration(told.value, unix_ms)?)))
        }
        _ => told.value.parse::<u64>().ok().map(|number| number.to_string()),
    }
}

#[cfg(test)]
mod tests;
