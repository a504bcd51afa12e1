//! Tools with a dated type of their own: what each of them is elsewhere.

use serde_json::value::RawValue;
use trilith_core::{Error, HostedTool, Json};

use super::{object::parse_at, wire::WebSearch};
use crate::json::Object;

/// What a dated type stands for.
pub(super) enum Known {
    /// Run by the client: elsewhere a function of this shape.
    Client { description: &'static str, parameters: &'static str },
    /// Run by the server.
    Hosted(HostedTool),
}

const BASH: &str = concat!(
    r#"{"type":"object","properties":{"command":{"type":"string","description":"The command to run."},"#,
    r#""restart":{"type":"boolean","description":"Whether to restart the shell instead."}}}"#
);
const TEXT_EDITOR: &str = concat!(
    r#"{"type":"object","properties":{"command":{"type":"string","enum":["view","create","str_replace","insert","undo_edit"]},"#,
    r#""path":{"type":"string"},"file_text":{"type":"string"},"old_str":{"type":"string"},"new_str":{"type":"string"},"#,
    r#""insert_line":{"type":"integer"},"insert_text":{"type":"string"},"#,
    r#""view_range":{"type":"array","items":{"type":"integer"}}},"required":["command","path"]}"#
);
const MEMORY: &str = concat!(
    r#"{"type":"object","properties":{"command":{"type":"string","enum":["view","create","str_replace","insert","delete","rename"]},"#,
    r#""path":{"type":"string"},"view_range":{"type":"array","items":{"type":"integer"}},"file_text":{"type":"string"},"#,
    r#""old_str":{"type":"string"},"new_str":{"type":"string"},"insert_line":{"type":"integer"},"#,
    r#""insert_text":{"type":"string"},"old_path":{"type":"string"},"new_path":{"type":"string"}},"required":["command"]}"#
);

/// The types, by what comes before their date.
static TYPES: [(&str, Known); 7] = [
    ("bash_", Known::Client { description: "Runs a command in a shell.", parameters: BASH }),
    ("text_editor_", Known::Client { description: "Views and edits files.", parameters: TEXT_EDITOR }),
    (
        "memory_",
        Known::Client {
            description: "Reads and writes files of the memory directory /memories.",
            parameters: MEMORY,
        },
    ),
    ("web_search_", Known::Hosted(HostedTool::WebSearch)),
    ("web_fetch_", Known::Hosted(HostedTool::WebSearch)),
    ("code_execution_", Known::Hosted(HostedTool::CodeInterpreter)),
    ("tool_search_tool_", Known::Hosted(HostedTool::ToolSearch)),
];

/// What the type word stands for, if it is known.
pub(super) fn of(word: &str) -> Option<&'static Known> {
    TYPES.iter().find(|(prefix, _)| word.starts_with(prefix)).map(|(_, known)| known)
}

/// A hosted tool's declaration as the Responses dialect spells it.
pub(super) fn config(at: &str, tool: HostedTool, raw: &RawValue) -> Result<Json, Error> {
    let mut out = Vec::new();
    let mut object = Object::new(&mut out);
    object.string("type", tool.name());
    match tool {
        HostedTool::WebSearch => {
            let wire: WebSearch<'_> = parse_at(at, raw)?;
            let given = |list: Option<&'_ RawValue>| list.is_some_and(|list| list.get() != "[]");
            if given(wire.allowed_domains) || given(wire.blocked_domains) {
                let mut filters = object.object("filters");
                for (name, list) in
                    [("allowed_domains", wire.allowed_domains), ("blocked_domains", wire.blocked_domains)]
                {
                    if let Some(list) = list.filter(|list| given(Some(list))) {
                        filters.raw(name, list.get());
                    }
                }
                filters.end();
            }
            if let Some(location) = wire.user_location {
                object.raw("user_location", location.get());
            }
        }
        HostedTool::CodeInterpreter => object.raw("container", r#"{"type":"auto"}"#),
        _ => {}
    }
    object.end();
    Ok(Json::from_checked(String::from_utf8_lossy(&out).into_owned()))
}
