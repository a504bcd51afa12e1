//! The upstream of a case: `target.json` says how its model is named and what it can be asked for. Without it,
//! the model can be asked for everything.

use std::borrow::Cow;

use serde_json::Value;
use trilith_core::Effort;
use trilith_dialect::{Capabilities, CapabilityTable, Change, Quirks, Target, Thinking};

use super::Files;

/// The upstream's name for every model.
const MODEL: &str = "upstream-model";

/// The model behind the upstream, and the upstream.
pub(super) struct Upstream {
    model: String,
    can: Capabilities,
    quirks: Quirks,
}

impl Upstream {
    /// What the case says of it.
    ///
    /// # Errors
    /// The file says something that no model has.
    pub(super) fn of(files: &Files) -> Result<Self, String> {
        let mut said = match files.given("target.json") {
            Some(bytes) => serde_json::from_slice(&bytes).map_err(|why| format!("target.json: {why}"))?,
            None => serde_json::Map::new(),
        };
        let model = match said.remove("model") {
            Some(Value::String(model)) => model,
            None => MODEL.to_owned(),
            Some(_) => return Err("target.json: the model is no text".into()),
        };
        let mut row = Change::default();
        for (name, value) in &said {
            set(&mut row, name, value).ok_or_else(|| format!("target.json: '{name}' cannot be {value}"))?;
        }
        let can = CapabilityTable::new([("*", row)]).of(&model);
        Ok(Self { model, can, quirks: Quirks::default() })
    }

    pub(super) fn target(&self, stream: bool) -> Target<'_> {
        Target { model: &self.model, stream, quirks: &self.quirks, can: &self.can }
    }
}

fn set(row: &mut Change, name: &str, value: &Value) -> Option<()> {
    let flag = match name {
        "forced_tool_choice" => Some(&mut row.forced_tool_choice),
        "single_tool_call" => Some(&mut row.single_tool_call),
        "several_answers" => Some(&mut row.several_answers),
        "prefill" => Some(&mut row.prefill),
        "sampling" => Some(&mut row.sampling),
        "temperature_with_top_p" => Some(&mut row.temperature_with_top_p),
        "system_between_turns" => Some(&mut row.system_between_turns),
        "json_schema" => Some(&mut row.json_schema),
        "schema_refs" => Some(&mut row.schema_refs),
        "strict_tools" => Some(&mut row.strict_tools),
        "pdf" => Some(&mut row.pdf),
        "image_urls" => Some(&mut row.image_urls),
        "document_urls" => Some(&mut row.document_urls),
        _ => None,
    };
    if let Some(flag) = flag {
        *flag = Some(value.as_bool()?);
        return Some(());
    }
    let words = || value.as_array()?.iter().map(Value::as_str).collect::<Option<Vec<&str>>>();
    match name {
        "max_temperature" => row.max_temperature = Some(u8::try_from(value.as_u64()?).ok()?),
        "max_output_tokens" => row.max_output_tokens = Some(value.as_u64()?),
        "image_types" => {
            row.image_types = Some(words()?.into_iter().map(|word| Cow::Owned(word.to_owned())).collect());
        }
        "efforts" => {
            let efforts = words()?.into_iter().map(Effort::parse).collect::<Option<Vec<_>>>()?;
            row.efforts = Some(efforts.into());
        }
        "thinking" => {
            row.thinking = Some(match value.as_str()? {
                "no" => Thinking::No,
                "budget" => Thinking::Budget,
                "adaptive" => Thinking::Adaptive,
                "always" => Thinking::Always,
                _ => return None,
            });
        }
        _ => return None,
    }
    Some(())
}
