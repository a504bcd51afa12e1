//! Tools toward the wire.

use trilith_core::{CustomFormat, DialectId, GrammarSyntax, HostedTool, Json, Tool, ToolKind};

use crate::{
    names::NameMap,
    responses::object::{Object, write_list},
    tape::Tape,
};

/// How names of tools are spelled: the caller's, or an upstream's.
pub(in crate::responses) type ToolNames<'n> = Option<&'n mut NameMap>;

/// One tool with its own names. In an answer every key of a function is there and `strict` says what is
/// in force (openai-checklist X9, S8).
pub(in crate::responses) fn write_tool(out: &mut Vec<u8>, tool: &Tool, request: bool) {
    write_tool_mapped(out, tool, request, &mut None);
}

/// One tool with the names of an upstream's wire.
pub(in crate::responses) fn write_tool_mapped(
    out: &mut Vec<u8>,
    tool: &Tool,
    request: bool,
    names: &mut ToolNames<'_>,
) {
    if let ToolKind::Hosted { tool, config } = &tool.kind {
        return if request {
            out.extend_from_slice(config.as_str().as_bytes());
        } else {
            write_hosted(out, *tool, config);
        };
    }
    let mut object = Object::open(out);
    match &tool.kind {
        ToolKind::Function { name, description, parameters, strict } => {
            object.str("type", "function");
            write_name(&mut object, name, names);
            write_description(&mut object, description.as_deref(), request);
            match parameters {
                Some(parameters) => object.raw("parameters", parameters.as_str()),
                None if request => object.raw("parameters", r#"{"type":"object","properties":{}}"#),
                None => object.raw("parameters", "null"),
            }
            match (strict, request) {
                (Some(strict), _) => object.bool("strict", *strict),
                (None, false) => object.bool("strict", crate::schema::qualifies(parameters.as_ref())),
                (None, true) => {}
            }
        }
        ToolKind::Custom { name, description, format } => {
            object.str("type", "custom");
            write_name(&mut object, name, names);
            write_description(&mut object, description.as_deref(), request);
            if let Some(format) = format {
                write_format(object.key("format"), format);
            }
        }
        ToolKind::Hosted { .. } => {}
        ToolKind::Namespace { name, description, tools } => {
            object.str("type", "namespace");
            write_name(&mut object, name, names);
            write_description(&mut object, description.as_deref(), request);
            write_list(object.key("tools"), tools, |out, tool| write_tool_mapped(out, tool, request, names));
        }
    }
    if let Some(defer) = tool.defer_loading {
        object.bool("defer_loading", defer);
    }
    for field in tool.extra.of(DialectId::Responses) {
        object.raw(&field.name, field.value.as_str());
    }
    object.close();
}

fn write_name(object: &mut Object<'_>, name: &str, names: &mut ToolNames<'_>) {
    match names {
        Some(names) => object.str("name", &names.outward(None, name)),
        None => object.str("name", name),
    }
}

fn write_description(object: &mut Object<'_>, description: Option<&str>, request: bool) {
    if request {
        object.opt_str("description", description);
    } else {
        object.str_or_null("description", description);
    }
}

fn write_format(out: &mut Vec<u8>, format: &CustomFormat) {
    let mut object = Object::open(out);
    match format {
        CustomFormat::Text => object.str("type", "text"),
        CustomFormat::Grammar { syntax, definition } => {
            object.str("type", "grammar");
            object.str(
                "syntax",
                match syntax {
                    GrammarSyntax::Lark => "lark",
                    GrammarSyntax::Regex => "regex",
                },
            );
            object.str("definition", definition);
        }
    }
    object.close();
}

/// The declaration for its caller. What nobody must read back is left out: an MCP server's credential and
/// headers.
fn write_hosted(out: &mut Vec<u8>, tool: HostedTool, config: &Json) {
    let mut tape = Tape::default();
    let mut object = Object::open(out);
    if let Ok(value) = tape.read(config.as_str()) {
        for (name, value) in value.members() {
            if tool != HostedTool::Mcp || !matches!(&*name, "authorization" | "headers") {
                object.raw(&name, value.raw());
            }
        }
        if tool == HostedTool::ToolSearch {
            for name in ["description", "parameters"].into_iter().filter(|name| value.member(name).is_none())
            {
                object.raw(name, "null");
            }
        }
    }
    object.close();
}
