//! The choice among tools.

use trilith_core::{Error, ToolChoice, ToolChoiceMode, ToolRef};

use super::{decode::hosted, encode::ToolNames};
use crate::{
    responses::{
        field::Field,
        object::{Object, write_list},
    },
    scan::write_string,
    tape::Kind,
};

const FORMS: [&str; 6] = ["function", "custom", "mcp", "allowed_tools", "apply_patch", "shell"];

/// A mode, one tool, or a set of tools.
///
/// # Errors
/// A field is wrong; it is named.
pub(in crate::responses) fn decode_choice(field: &Field<'_, '_>) -> Result<ToolChoice, Error> {
    match field.value.kind() {
        Kind::String => match &*field.text()? {
            "none" => Ok(ToolChoice::None),
            "auto" => Ok(ToolChoice::Auto),
            "required" => Ok(ToolChoice::Required),
            word => Err(field.unsupported(word, &["none", "auto", "required"])),
        },
        Kind::Object if field.need("type")?.text()? == "allowed_tools" => allowed(field),
        Kind::Object => reference(field).map(ToolChoice::Tool),
        _ => Err(field.expected("a string or an object")),
    }
}

fn allowed(field: &Field<'_, '_>) -> Result<ToolChoice, Error> {
    let mode = match field.opt_text("mode")?.as_deref() {
        None | Some("auto") => ToolChoiceMode::Auto,
        Some("required") => ToolChoiceMode::Required,
        Some(word) => return Err(field.need("mode")?.unsupported(word, &["auto", "required"])),
    };
    let list = field.need("tools")?;
    let tools = list.list()?.map(|tool| reference(&tool)).collect::<Result<Vec<_>, _>>()?;
    if tools.is_empty() || tools.len() > 128 {
        return Err(list.wrong("expected 1 to 128 tools", "invalid_value"));
    }
    Ok(ToolChoice::Allowed { mode, tools })
}

fn reference(field: &Field<'_, '_>) -> Result<ToolRef, Error> {
    field.object()?;
    let word_field = field.need("type")?;
    let word = word_field.text()?;
    Ok(match &*word {
        "function" => ToolRef::Function(field.need_box("name")?),
        "custom" => ToolRef::Custom(field.need_box("name")?),
        "mcp" => ToolRef::Mcp { server_label: field.need_box("server_label")?, name: field.opt_box("name")? },
        word => match hosted(word) {
            Some(tool) => ToolRef::Hosted(tool, field.value.json()),
            None => return Err(word_field.unsupported(word, &FORMS)),
        },
    })
}

/// The choice with its own names.
pub(in crate::responses) fn write_choice(out: &mut Vec<u8>, choice: &ToolChoice) {
    write_choice_mapped(out, choice, &mut None);
}

/// The choice with the names of an upstream's wire.
pub(in crate::responses) fn write_choice_mapped(
    out: &mut Vec<u8>,
    choice: &ToolChoice,
    names: &mut ToolNames<'_>,
) {
    match choice {
        ToolChoice::None => write_string(out, "none"),
        ToolChoice::Auto => write_string(out, "auto"),
        ToolChoice::Required => write_string(out, "required"),
        ToolChoice::Tool(tool) => write_reference(out, tool, names),
        ToolChoice::Allowed { mode, tools } => {
            let mut object = Object::open(out);
            object.str("type", "allowed_tools");
            object.str(
                "mode",
                match mode {
                    ToolChoiceMode::Auto => "auto",
                    ToolChoiceMode::Required => "required",
                },
            );
            write_list(object.key("tools"), tools, |out, tool| write_reference(out, tool, names));
            object.close();
        }
    }
}

fn write_reference(out: &mut Vec<u8>, tool: &ToolRef, names: &mut ToolNames<'_>) {
    if let ToolRef::Hosted(_, json) = tool {
        return out.extend_from_slice(json.as_str().as_bytes());
    }
    let mut object = Object::open(out);
    match tool {
        ToolRef::Function(name) | ToolRef::Custom(name) => {
            object.str("type", if matches!(tool, ToolRef::Custom(_)) { "custom" } else { "function" });
            match names {
                Some(names) => object.str("name", &names.outward(None, name)),
                None => object.str("name", name),
            }
        }
        ToolRef::Mcp { server_label, name } => {
            object.str("type", "mcp");
            object.str("server_label", server_label);
            object.opt_str("name", name.as_deref());
        }
        ToolRef::Hosted(..) => {}
    }
    object.close();
}
