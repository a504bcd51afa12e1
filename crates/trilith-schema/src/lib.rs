//! Texts held to JSON Schemas, in bounded time.
//!
//! Schemas come from callers and texts from models, so neither may make the check run long. Patterns are matched by
//! an engine without backtracking; what would take much memory to match is refused. A schema that refers to itself
//! is followed with a memory of what was looked at already; one that only repeats itself (each part holds the next
//! one twice) is refused when it would be too large written out in full. Nothing is fetched.

mod weight;

use std::sync::Arc;

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;
use trilith_core::{Json, Schema, Schemas};

use weight::Weight;

/// The most that a compiled pattern may take, in bytes.
const PATTERN_SIZE: usize = 1 << 20;
/// The most parts that a schema may have, written out in full.
const MOST_PARTS: u64 = 50_000;
/// Up to so many parts it is told where a text does not match. To find out costs more than to know that.
const TELLING_PARTS: u64 = 1_000;

/// The check by `jsonschema`.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonSchemas;

impl Schemas for JsonSchemas {
    fn ready(&self, schema: &Json) -> Result<Arc<dyn Schema>, Box<str>> {
        let schema: Value =
            serde_json::from_str(schema.as_str()).map_err(|_| Box::<str>::from("it is nested too deep"))?;
        let weight = Weight::of(&schema);
        if weight.parts > MOST_PARTS {
            return Err("it is too large once its references are written out".into());
        }
        let patterns = PatternOptions::regex().size_limit(PATTERN_SIZE).dfa_size_limit(PATTERN_SIZE);
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .should_validate_formats(true)
            .with_pattern_options(patterns)
            .build(&schema)
            .map_err(|error| shown(&error.to_string()))?;
        Ok(Arc::new(Ready { validator, tells: !weight.recursive && weight.parts <= TELLING_PARTS }))
    }
}

/// A text for callers: short, whatever they wrote.
fn shown(text: &str) -> Box<str> {
    text.chars().take(200).collect::<String>().into()
}

struct Ready {
    validator: Validator,
    /// Whether it can say where a text does not match.
    tells: bool,
}

impl Schema for Ready {
    fn check(&self, text: &str) -> Result<(), Box<str>> {
        let value: Value = serde_json::from_str(text).map_err(|error| match error.classify() {
            serde_json::error::Category::Eof => "it is no whole JSON",
            _ => "it is no JSON, or has more than JSON",
        })?;
        if self.validator.is_valid(&value) {
            return Ok(());
        }
        let found = self.tells.then(|| self.validator.validate(&value).err()).flatten();
        let Some(error) = found else { return Err("a part of it does not match".into()) };
        let place = error.instance_path().to_string();
        let rule = error.schema_path().to_string();
        let rule = rule.rsplit('/').next().unwrap_or_default();
        let place = if place.is_empty() { "the whole".to_owned() } else { format!("'{place}'") };
        Err(shown(&format!("{place} breaks the rule '{rule}'")))
    }
}

#[cfg(test)]
mod tests;
