//! A request's tools and the choice among them.

use trilith_core::{
    CustomFormat, DialectId, Error, Extra, GrammarSyntax, Loss, Settings, Tool, ToolChoice, ToolChoiceMode,
    ToolKind, ToolRef,
};

use super::{settings::illegal_name, wire};
use crate::{
    chat::object::{invalid, json, keep, missing},
    is_legal, tool_name,
    values::unknown_word,
};

/// The most tools OpenAI takes in one request.
const MAX_TOOLS: usize = 128;

pub(super) fn decode(
    request: &mut wire::Request<'_>,
    settings: &mut Settings,
    losses: &mut Vec<Loss>,
) -> Result<(), Error> {
    let tools = request.tools.take().unwrap_or_default();
    let functions = request.functions.take().unwrap_or_default();
    for (param, len) in [("tools", tools.len()), ("functions", functions.len())] {
        if len > MAX_TOOLS {
            let text = format!("Invalid '{param}': expected at most {MAX_TOOLS} entries, got {len}.");
            return Err(invalid(param, text).with_code("array_above_max_length"));
        }
    }
    for (place, wire) in tools.into_iter().enumerate() {
        settings.tools.push(tool(&format!("tools[{place}]"), wire)?);
    }
    if !functions.is_empty() {
        losses.push(Loss::warn("functions", "answered in the newer form: calls come in tool_calls"));
    }
    for (place, wire) in functions.into_iter().enumerate() {
        let mut extra = Extra::EMPTY;
        let kind = function(&format!("functions[{place}]"), wire, &mut extra)?;
        settings.tools.push(Tool { extra, ..Tool::new(kind) });
    }
    settings.parallel_tool_calls = request.parallel_tool_calls;
    let chosen = match (request.tool_choice.take(), request.function_call.take()) {
        (Some(choice), _) => Some(("tool_choice", choice)),
        (None, Some(choice)) => Some(("function_call", choice)),
        (None, None) => None,
    };
    if let Some((param, wire)) = chosen {
        let choice = choice(param, wire)?;
        check_choice(param, &choice, &settings.tools)?;
        settings.tool_choice = Some(choice);
    }
    Ok(())
}

fn tool(at: &str, wire: wire::Tool<'_>) -> Result<Tool, Error> {
    let mut extra = Extra::EMPTY;
    let kind = wire.kind.ok_or_else(|| missing(&format!("{at}.type")))?;
    let kind = match &*kind {
        "function" => {
            let at = format!("{at}.function");
            function(&at, wire.function.ok_or_else(|| missing(&at))?, &mut extra)?
        }
        "custom" => {
            let at = format!("{at}.custom");
            custom(&at, wire.custom.ok_or_else(|| missing(&at))?)?
        }
        word => return Err(unknown_word(&format!("{at}.type"), word, &["function", "custom"])),
    };
    keep(&mut extra, "", wire.rest);
    Ok(Tool { extra, ..Tool::new(kind) })
}

fn legal(at: &str, name: Option<Box<str>>) -> Result<Box<str>, Error> {
    let param = format!("{at}.name");
    let name = name.ok_or_else(|| missing(&param))?;
    if is_legal(&name) { Ok(name) } else { Err(illegal_name(&param)) }
}

fn function(at: &str, wire: wire::Function<'_>, extra: &mut Extra) -> Result<ToolKind, Error> {
    let name = legal(at, wire.name)?;
    if wire.parameters.is_some_and(|schema| !schema.get().starts_with('{')) {
        let param = format!("{at}.parameters");
        return Err(invalid(&param, format!("Invalid type for '{param}': expected a JSON Schema object."))
            .with_code("invalid_function_parameters"));
    }
    keep(extra, "function.", wire.rest);
    Ok(ToolKind::Function {
        name,
        description: wire.description,
        parameters: wire.parameters.map(json),
        // This dialect's default; in Responses silence means the opposite.
        strict: Some(wire.strict.unwrap_or(false)),
    })
}

fn custom(at: &str, wire: wire::Custom<'_>) -> Result<ToolKind, Error> {
    let name = legal(at, wire.name)?;
    let format = match wire.format {
        None => None,
        Some(format) => Some(custom_format(&format!("{at}.format"), format)?),
    };
    Ok(ToolKind::Custom { name, description: wire.description, format })
}

fn custom_format(at: &str, wire: wire::Format<'_>) -> Result<CustomFormat, Error> {
    let kind = wire.kind.ok_or_else(|| missing(&format!("{at}.type")))?;
    match &*kind {
        "text" => Ok(CustomFormat::Text),
        "grammar" => {
            let at = format!("{at}.grammar");
            let grammar = wire.grammar.ok_or_else(|| missing(&at))?;
            let param = format!("{at}.syntax");
            let syntax = match grammar.syntax.as_deref() {
                Some("lark") => GrammarSyntax::Lark,
                Some("regex") => GrammarSyntax::Regex,
                Some(word) => return Err(unknown_word(&param, word, &["lark", "regex"])),
                None => return Err(missing(&param)),
            };
            let definition = grammar.definition.ok_or_else(|| missing(&format!("{at}.definition")))?;
            Ok(CustomFormat::Grammar { syntax, definition })
        }
        word => Err(unknown_word(&format!("{at}.type"), word, &["text", "grammar"])),
    }
}

fn choice(param: &str, wire: wire::Choice<'_>) -> Result<ToolChoice, Error> {
    let wire = match wire {
        wire::Choice::Mode(word) => {
            return match &*word {
                "none" => Ok(ToolChoice::None),
                "auto" => Ok(ToolChoice::Auto),
                "required" => Ok(ToolChoice::Required),
                word => Err(unknown_word(param, word, &["none", "auto", "required"])),
            };
        }
        wire::Choice::Object(wire) => *wire,
    };
    match wire.kind.as_deref() {
        Some("allowed_tools") => {
            let at = format!("{param}.allowed_tools");
            allowed(&at, wire.allowed_tools.ok_or_else(|| missing(&at))?)
        }
        // The deprecated form has a name and no type.
        None if param == "function_call" => {
            let name = wire.name.ok_or_else(|| missing("function_call.name"))?;
            Ok(ToolChoice::Tool(ToolRef::Function(name)))
        }
        _ => tool_ref(param, wire).map(ToolChoice::Tool),
    }
}

fn tool_ref(at: &str, wire: wire::ChoiceObject<'_>) -> Result<ToolRef, Error> {
    let kind = wire.kind.ok_or_else(|| missing(&format!("{at}.type")))?;
    let (named, make): (_, fn(Box<str>) -> ToolRef) = match &*kind {
        "function" => (wire.function, ToolRef::Function),
        "custom" => (wire.custom, ToolRef::Custom),
        word => {
            return Err(unknown_word(&format!("{at}.type"), word, &["function", "custom", "allowed_tools"]));
        }
    };
    let name = named.and_then(|named| named.name);
    name.map(make).ok_or_else(|| missing(&format!("{at}.{kind}.name")))
}

fn allowed(at: &str, wire: wire::Allowed<'_>) -> Result<ToolChoice, Error> {
    let param = format!("{at}.mode");
    let mode = match wire.mode.as_deref() {
        Some("auto") => ToolChoiceMode::Auto,
        Some("required") => ToolChoiceMode::Required,
        Some(word) => return Err(unknown_word(&param, word, &["auto", "required"])),
        None => return Err(missing(&param)),
    };
    let param = format!("{at}.tools");
    let tools = wire.tools.ok_or_else(|| missing(&param))?;
    if tools.is_empty() || tools.len() > MAX_TOOLS {
        return Err(invalid(&param, format!("Invalid '{param}': expected 1 to {MAX_TOOLS} tools.")));
    }
    let tools = tools.into_iter().enumerate();
    let tools: Result<_, _> =
        tools.map(|(place, tool)| tool_ref(&format!("{at}.tools[{place}]"), tool)).collect();
    Ok(ToolChoice::Allowed { mode, tools: tools? })
}

/// The real wire refuses a choice without tools, and a name that no tool has.
fn check_choice(param: &str, choice: &ToolChoice, tools: &[Tool]) -> Result<(), Error> {
    if tools.is_empty() {
        let list = if param == "tool_choice" { "tools" } else { "functions" };
        let text =
            format!("Invalid value for '{param}': '{param}' is only allowed when '{list}' are specified.");
        return Err(invalid(param, text));
    }
    let named: &[ToolRef] = match choice {
        ToolChoice::Tool(tool) => std::slice::from_ref(tool),
        ToolChoice::Allowed { tools, .. } => tools,
        ToolChoice::None | ToolChoice::Auto | ToolChoice::Required => &[],
    };
    for tool in named {
        let (ToolRef::Function(name) | ToolRef::Custom(name)) = tool else { continue };
        if !tools.iter().any(|tool| tool_name(tool) == Some(name)) {
            let text = format!("Invalid value for '{param}': no tool named '{name}' is among the tools.");
            return Err(invalid(param, text));
        }
    }
    Ok(())
}

/// The fields of this dialect inside a function's own object, by the prefix [`keep`] gave them.
pub(super) fn function_fields(extra: &Extra) -> impl Iterator<Item = (&str, &trilith_core::Json)> {
    extra.of(DialectId::Chat).filter_map(|field| Some((field.name.strip_prefix("function.")?, &field.value)))
}
