//! Tools from the wire.

use trilith_core::{CustomFormat, Error, GrammarSyntax, HostedTool, Tool, ToolKind};

use crate::responses::{
    field::{Field, Side},
    item::rest,
};
use crate::tape::Kind;

/// Type words of hosted tools that mean the same as another word, with a date in them.
const ALIASES: [(&str, HostedTool); 4] = [
    ("web_search_2025_08_26", HostedTool::WebSearch),
    ("web_search_preview_2025_03_11", HostedTool::WebSearchPreview),
    ("computer_use", HostedTool::Computer),
    ("computer-preview", HostedTool::ComputerUsePreview),
];

/// The longest tool name (openai-checklist X13).
const LONGEST_NAME: usize = 128;

/// The hosted tool that a type word stands for.
pub(super) fn hosted(word: &str) -> Option<HostedTool> {
    HostedTool::parse(word)
        .or_else(|| ALIASES.iter().find(|(alias, _)| *alias == word).map(|(_, tool)| *tool))
}

/// One tool.
///
/// # Errors
/// A field is wrong; it is named.
pub(in crate::responses) fn decode_tool(field: &Field<'_, '_>) -> Result<Tool, Error> {
    field.object()?;
    let word_field = field.need("type")?;
    let word = word_field.text()?;
    let (kind, known): (ToolKind, &[&str]) = match &*word {
        "function" => (function(field)?, &["name", "description", "parameters", "strict"]),
        "custom" => (custom(field)?, &["name", "description", "format"]),
        "namespace" => (namespace(field)?, &["name", "description", "tools"]),
        word => {
            let Some(tool) = hosted(word) else { return Err(unknown(&word_field, word)) };
            check_hosted(field, tool)?;
            let mut tool = Tool::new(ToolKind::Hosted { tool, config: field.value.json() });
            tool.defer_loading = field.opt_bool("defer_loading")?;
            return Ok(tool);
        }
    };
    let mut tool = Tool::new(kind);
    tool.defer_loading = field.opt_bool("defer_loading")?;
    tool.extra = rest(field, &[&["type", "defer_loading"], known]);
    Ok(tool)
}

fn unknown(field: &Field<'_, '_>, word: &str) -> Error {
    let known: Vec<&str> = ["function", "custom", "namespace"]
        .into_iter()
        .chain(HostedTool::ALL.map(HostedTool::name))
        .collect();
    field.unsupported(word, &known)
}

/// A name of at most [`LONGEST_NAME`] letters, digits, `_` and `-`.
fn name(field: &Field<'_, '_>) -> Result<Box<str>, Error> {
    let name = field.need("name")?;
    let text = name.text()?;
    let legal = !text.is_empty()
        && text.len() <= LONGEST_NAME
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if legal || name.side == Side::Upstream {
        return Ok(text.into());
    }
    Err(name.wrong("expected 1 to 128 characters of a-z, A-Z, 0-9, _ and -", "invalid_value"))
}

fn function(field: &Field<'_, '_>) -> Result<ToolKind, Error> {
    if field.value.get("name").is_none() && field.value.get("function").is_some() {
        return Err(field.get("function").map_or_else(
            || field.missing("name"),
            |nested| {
                nested.wrong(
                    "this dialect puts name and parameters beside type, not below function",
                    "invalid_value",
                )
            },
        ));
    }
    let parameters = match field.get("parameters") {
        Some(parameters) => {
            parameters.object()?;
            Some(parameters.value.json())
        }
        None => None,
    };
    Ok(ToolKind::Function {
        name: name(field)?,
        description: field.opt_text("description")?.map(Into::into),
        parameters,
        strict: field.opt_bool("strict")?,
    })
}

fn custom(field: &Field<'_, '_>) -> Result<ToolKind, Error> {
    let format = match field.get("format") {
        Some(format) => Some(custom_format(&format)?),
        None => None,
    };
    Ok(ToolKind::Custom {
        name: name(field)?,
        description: field.opt_text("description")?.map(Into::into),
        format,
    })
}

fn custom_format(field: &Field<'_, '_>) -> Result<CustomFormat, Error> {
    field.object()?;
    let word = field.need("type")?;
    match &*word.text()? {
        "text" => Ok(CustomFormat::Text),
        "grammar" => {
            let syntax = field.need("syntax")?;
            let syntax = match &*syntax.text()? {
                "lark" => GrammarSyntax::Lark,
                "regex" => GrammarSyntax::Regex,
                other => return Err(syntax.unsupported(other, &["lark", "regex"])),
            };
            let definition = field.need("definition")?.text()?.into_owned();
            Ok(CustomFormat::Grammar { syntax, definition })
        }
        other => Err(word.unsupported(other, &["text", "grammar"])),
    }
}

fn namespace(field: &Field<'_, '_>) -> Result<ToolKind, Error> {
    let list = field.need("tools")?;
    let mut tools = Vec::new();
    for member in list.list()? {
        let tool = decode_tool(&member)?;
        match tool.kind {
            ToolKind::Function { .. } | ToolKind::Custom { .. } => tools.push(tool),
            ToolKind::Namespace { .. } | ToolKind::Hosted { .. } => {
                let word = member.need("type")?;
                return Err(word.unsupported(&word.text()?, &["function", "custom"]));
            }
        }
    }
    if tools.is_empty() && field.side == Side::Client {
        return Err(list.wrong("expected at least one tool", "invalid_value"));
    }
    Ok(ToolKind::Namespace {
        name: name(field)?,
        description: field.opt_text("description")?.map(Into::into),
        tools,
    })
}

/// What a hosted tool cannot do without.
fn check_hosted(field: &Field<'_, '_>, tool: HostedTool) -> Result<(), Error> {
    match tool {
        HostedTool::FileSearch => {
            let stores = field.need("vector_store_ids")?;
            if stores.value.kind() != Kind::Array {
                return Err(stores.expected("an array"));
            }
            field.opt_u64("max_num_results", 1, 50)?;
        }
        HostedTool::CodeInterpreter => {
            let container = field.need("container")?;
            if !matches!(container.value.kind(), Kind::String | Kind::Object) {
                return Err(container.expected("a string or an object"));
            }
        }
        HostedTool::Mcp => {
            field.need("server_label")?.text()?;
            let places = ["server_url", "connector_id", "tunnel_id"];
            if !places.iter().any(|place| field.get(place).is_some()) {
                return Err(field.missing("server_url"));
            }
        }
        HostedTool::ComputerUsePreview => {
            field.opt_u64("display_width", 1, u64::MAX)?;
            field.opt_u64("display_height", 1, u64::MAX)?;
        }
        HostedTool::ImageGeneration => {
            field.opt_u64("output_compression", 0, 100)?;
            field.opt_u64("partial_images", 0, 3)?;
        }
        HostedTool::WebSearch
        | HostedTool::WebSearchPreview
        | HostedTool::Computer
        | HostedTool::LocalShell
        | HostedTool::Shell
        | HostedTool::ApplyPatch
        | HostedTool::ToolSearch
        | HostedTool::ProgrammaticToolCalling => {}
    }
    Ok(())
}
