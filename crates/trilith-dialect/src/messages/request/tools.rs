//! A request's tools and the choice among them.

use serde_json::value::RawValue;
use trilith_core::{Error, HostedTool, Json, Settings, Tool, ToolChoice, ToolKind, ToolRef};

use super::{
    DECLARATION, STRICT, blocks,
    decode::OWN,
    known_tools::{self, Known},
    object::{invalid, json, keep, missing, parse_at, unknown_word},
    wire::{self, Request},
};
use crate::{schema, tool_name};

/// The longest name of a tool.
const LONGEST_NAME: usize = 128;

pub(super) fn decode(request: &mut Request<'_>, settings: &mut Settings) -> Result<(), Error> {
    let mut hosted: Vec<(Box<str>, HostedTool)> = Vec::new();
    for (place, raw) in request.tools.take().unwrap_or_default().into_iter().enumerate() {
        settings.tools.push(tool(&format!("tools.{place}"), raw, &mut hosted)?);
    }
    let Some(choice) = request.tool_choice.take() else { return Ok(()) };
    if choice.disable_parallel_tool_use == Some(true) {
        settings.parallel_tool_calls = Some(false);
    }
    let kind = choice.kind.ok_or_else(|| missing("tool_choice.type"))?;
    let chosen = match &*kind {
        "auto" => ToolChoice::Auto,
        "any" => ToolChoice::Required,
        "none" => ToolChoice::None,
        "tool" => {
            let name = choice.name.ok_or_else(|| missing("tool_choice.name"))?;
            if let Some((_, tool)) = hosted.iter().find(|(own, _)| *own == name) {
                let json = Json::from_checked(format!("{{\"type\":\"{}\"}}", tool.name()));
                ToolChoice::Tool(ToolRef::Hosted(*tool, json))
            } else if settings.tools.is_empty()
                || settings.tools.iter().any(|tool| tool_name(tool) == Some(&name))
            {
                ToolChoice::Tool(ToolRef::Function(name))
            } else {
                return Err(invalid(
                    "tool_choice.name",
                    format!("Tool '{name}' not found in provided tools"),
                ));
            }
        }
        word => return Err(unknown_word("tool_choice.type", word, &["auto", "any", "tool", "none"])),
    };
    // This wire takes a choice without tools, and nothing follows from it.
    if !settings.tools.is_empty() {
        settings.tool_choice = Some(chosen);
    }
    Ok(())
}

fn tool(at: &str, raw: &RawValue, hosted: &mut Vec<(Box<str>, HostedTool)>) -> Result<Tool, Error> {
    let wire: wire::Tool<'_> = parse_at(at, raw)?;
    let param = format!("{at}.name");
    let named = |name: Option<Box<str>>| {
        let name = name.ok_or_else(|| missing(&param))?;
        if is_legal(&name) { Ok(name) } else { Err(illegal_name(&param)) }
    };
    let word = wire.kind.as_deref().filter(|word| *word != "custom");
    let Some(word) = word else {
        let param = format!("{at}.input_schema");
        let schema = wire.input_schema.ok_or_else(|| missing(&param))?;
        if !schema.get().starts_with('{') {
            return Err(invalid(&param, "Input should be an object"));
        }
        let schema = json(schema);
        // What other wires refuse to be strict about is strict on this one alone.
        let elsewhere = wire.strict == Some(true) && schema::qualifies(Some(&schema));
        let mut tool = Tool::new(ToolKind::Function {
            name: named(wire.name)?,
            description: wire.description,
            parameters: Some(schema),
            // This dialect's default is not to be; in Responses silence means the opposite.
            strict: Some(elsewhere),
        });
        if wire.strict == Some(true) && !elsewhere {
            tool.extra.push(OWN, STRICT, Json::from_checked("true"));
        }
        tool.defer_loading = wire.defer_loading;
        blocks::mark(at, wire.cache_control, &mut tool.cache_mark, &mut tool.extra)?;
        keep(&mut tool.extra, "", wire.rest);
        return Ok(tool);
    };
    let kind = match known_tools::of(word) {
        None => return Err(unknown(at, word)),
        Some(Known::Client { description, parameters }) => ToolKind::Function {
            name: named(wire.name)?,
            description: Some((*description).to_owned()),
            parameters: Some(Json::from_checked(*parameters)),
            strict: Some(false),
        },
        Some(Known::Hosted(tool)) => {
            hosted.push((named(wire.name)?, *tool));
            ToolKind::Hosted { tool: *tool, config: known_tools::config(at, *tool, raw)? }
        }
    };
    let mut tool = Tool::new(kind);
    tool.defer_loading = wire.defer_loading;
    tool.extra.push(OWN, DECLARATION, json(raw));
    blocks::mark(at, wire.cache_control, &mut tool.cache_mark, &mut trilith_core::Extra::default())?;
    Ok(tool)
}

fn unknown(at: &str, word: &str) -> Error {
    let param = format!("{at}.type");
    let shown: String = word.chars().take(64).collect();
    let why =
        format!("'{shown}' is not a tool that is known here. Remove the tool or declare it as a custom tool");
    invalid(&param, why).with_code("unsupported_parameter")
}

/// Whether this wire takes the name.
pub(super) fn is_legal(name: &str) -> bool {
    name.len() <= LONGEST_NAME && super::ids::is_legal(name)
}

pub(super) fn illegal_name(param: &str) -> Error {
    invalid(param, format!("String should match pattern '^[a-zA-Z0-9_-]{{1,{LONGEST_NAME}}}$'"))
}
