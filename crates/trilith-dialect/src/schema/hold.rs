//! How a target is held to the form of its text on the OpenAI-shaped wires.

use trilith_core::{Abilities, Hold, Settings, TextFormat};

use super::qualifies;

/// The hold of a wire with `json_object` and strict schemas. `takes` says that the place takes the field at all.
pub(crate) fn openai(abilities: Abilities, takes: bool, settings: &Settings) -> Hold {
    match &settings.output.format {
        // Older than schemas, and known to models that know none.
        Some(TextFormat::JsonObject) if takes => Hold::Whole,
        // What comes without a name is sent without strictness where the schema leaves things open.
        Some(TextFormat::JsonSchema(format))
            if abilities.json_schema
                && format.strict == Some(true)
                && format.name.is_none()
                && !qualifies(format.schema.as_ref()) =>
        {
            Hold::Part
        }
        _ => abilities.hold(),
    }
}
