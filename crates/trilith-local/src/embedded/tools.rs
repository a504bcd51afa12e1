//! Tools as functions, which is all that chat templates know, and the way back from a function's name.

use std::collections::{HashMap, HashSet};

use trilith_core::{
    CallKind, CustomFormat, Error, GrammarSyntax, Item, ItemBody, Loss, Settings, Tool, ToolChoice,
    ToolChoiceMode, ToolKind, ToolRef,
};

use super::prompt::{Report, unsupported};

/// The field of a function that stands for a custom tool.
pub(super) const INPUT_FIELD: &str = "input";

/// What a name that the model sees stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Offered {
    pub(super) namespace: Option<Box<str>>,
    pub(super) name: Box<str>,
    pub(super) kind: CallKind,
}

/// The tools of a request.
#[derive(Debug, Default)]
pub(super) struct Tools {
    by_shown: HashMap<Box<str>, Offered>,
    shown: HashMap<FullName, Box<str>>,
}

/// A namespace, if any, and a name in it.
type FullName = (Option<Box<str>>, Box<str>);

impl Tools {
    /// The tool that the model means by a name; `None` for one that it made up.
    pub(super) fn by_shown(&self, shown: &str) -> Option<&Offered> {
        self.by_shown.get(shown)
    }

    /// The name under which the model sees a tool, of this request or of an earlier one.
    pub(super) fn shown(&self, namespace: Option<&str>, name: &str) -> String {
        let known = self.shown.get(&(namespace.map(Into::into), name.into()));
        match (known, namespace) {
            (Some(shown), _) => shown.to_string(),
            (None, Some(namespace)) => joined(namespace, name),
            (None, None) => name.to_owned(),
        }
    }

    /// Gives a tool a name that no other one has. A tool that is given twice keeps its name.
    fn add(&mut self, namespace: Option<&str>, name: &str, kind: CallKind) -> Box<str> {
        let full: FullName = (namespace.map(Into::into), name.into());
        if let Some(known) = self.shown.get(&full) {
            return known.clone();
        }
        let plain = namespace.map_or_else(|| name.to_owned(), |namespace| joined(namespace, name));
        let mut shown = plain.clone();
        let mut number = 2;
        while self.by_shown.contains_key(shown.as_str()) {
            shown = format!("{plain}_{number}");
            number += 1;
        }
        let shown: Box<str> = shown.into();
        let (namespace, name) = full.clone();
        self.by_shown.insert(shown.clone(), Offered { namespace, name, kind });
        self.shown.insert(full, shown.clone());
        shown
    }
}

fn joined(namespace: &str, name: &str) -> String {
    format!("{namespace}__{name}")
}

/// A tool, where it stands in the request, and the namespace around it.
struct Placed<'t> {
    at: String,
    namespace: Option<&'t str>,
    tool: &'t Tool,
}

/// The tools that the model may call, and their definitions for the template.
///
/// # Errors
/// A tool is run by a vendor's server, or a call is demanded.
pub(super) fn offer(
    settings: &Settings,
    input: &[Item],
    report: &mut Report,
) -> Result<(Tools, Vec<String>), Error> {
    let mut placed = flat(&effective(settings, input), report);
    let allowed = allowed(settings.tool_choice.as_ref(), placed.is_empty())?;
    if let Some(allowed) = allowed {
        let names = allowed.iter().filter_map(|tool| match tool {
            ToolRef::Function(name) | ToolRef::Custom(name) => Some(&**name),
            ToolRef::Hosted(..) | ToolRef::Mcp { .. } => None,
        });
        let names: HashSet<&str> = names.collect();
        placed.retain(|placed| is_meant(&names, placed));
        report.add(Loss::emulate("tool_choice", "the embedded model is shown the allowed tools only"));
    }
    // Plain names come first: they stay as they are, and a joined name gives way.
    placed.sort_by_key(|placed| placed.namespace.is_some());
    let mut tools = Tools::default();
    let mut definitions = Vec::with_capacity(placed.len());
    for placed in &placed {
        definitions.push(define(placed, &mut tools, report)?);
    }
    if settings.tool_choice == Some(ToolChoice::None) {
        definitions.clear();
    }
    if settings.parallel_tool_calls == Some(false) && !definitions.is_empty() {
        report.add(Loss::emulate("parallel_tool_calls", "of several calls only the first is kept"));
    }
    Ok((tools, definitions))
}

/// The request's tools, as changed by items in the conversation.
fn effective<'t>(settings: &'t Settings, input: &'t [Item]) -> Vec<(String, &'t Tool)> {
    let place = |list: &str, place: usize| format!("{list}[{place}]");
    let mut tools: Vec<(String, &Tool)> =
        settings.tools.iter().enumerate().map(|(number, tool)| (place("tools", number), tool)).collect();
    for (number, item) in input.iter().enumerate() {
        let ItemBody::ToolsChange(change) = &item.body else { continue };
        tools.retain(|(_, tool)| !change.remove.iter().any(|name| own_name(tool) == Some(name)));
        for tool in &change.add {
            tools.retain(|(_, known)| own_name(known).is_none() || own_name(known) != own_name(tool));
            tools.push((format!("{}.tools", place("input", number)), tool));
        }
    }
    tools
}

fn own_name(tool: &Tool) -> Option<&str> {
    match &tool.kind {
        ToolKind::Function { name, .. }
        | ToolKind::Custom { name, .. }
        | ToolKind::Namespace { name, .. } => Some(name),
        ToolKind::Hosted { .. } => None,
    }
}

fn flat<'t>(tools: &[(String, &'t Tool)], report: &mut Report) -> Vec<Placed<'t>> {
    let mut placed = Vec::with_capacity(tools.len());
    for (at, tool) in tools {
        match &tool.kind {
            ToolKind::Namespace { name, description, tools } => {
                if description.is_some() {
                    let why = "the tools of a namespace are offered one by one, under joined names";
                    report.add(Loss::hint(format!("{at}.description"), why));
                }
                placed.extend(tools.iter().enumerate().map(|(number, member)| Placed {
                    at: format!("{at}.tools[{number}]"),
                    namespace: Some(name),
                    tool: member,
                }));
            }
            _ => placed.push(Placed { at: at.clone(), namespace: None, tool }),
        }
    }
    placed
}

/// The tools that alone are allowed, if the choice says so.
fn allowed(choice: Option<&ToolChoice>, no_tools: bool) -> Result<Option<&[ToolRef]>, Error> {
    match choice {
        None | Some(ToolChoice::None | ToolChoice::Auto) => Ok(None),
        Some(ToolChoice::Allowed { mode: ToolChoiceMode::Auto, tools }) => Ok(Some(tools)),
        Some(ToolChoice::Required | ToolChoice::Tool(_) | ToolChoice::Allowed { .. }) if no_tools => {
            let text = "Invalid value for 'tool_choice': a call is asked for, but the request has no tools.";
            Err(Error::bad_request("tool_choice", text).with_code("invalid_value"))
        }
        Some(ToolChoice::Required | ToolChoice::Tool(_) | ToolChoice::Allowed { .. }) => {
            let text = "'tool_choice': the embedded model cannot be made to call a tool. Use 'auto' or 'none', \
                        or name another model.";
            Err(Error::bad_request("tool_choice", text).with_code("unsupported_parameter"))
        }
    }
}

/// A choice names a tool alone, or as `namespace.name`.
fn is_meant(names: &HashSet<&str>, placed: &Placed<'_>) -> bool {
    let Some(own) = own_name(placed.tool) else { return false };
    let full = placed.namespace.map(|namespace| format!("{namespace}.{own}"));
    names.contains(own) || full.is_some_and(|full| names.contains(full.as_str()))
}

/// The definition of a tool in the form that chat templates take.
fn define(placed: &Placed<'_>, tools: &mut Tools, report: &mut Report) -> Result<String, Error> {
    let Placed { at, namespace, tool } = placed;
    report.foreign(at, &tool.extra);
    if tool.defer_loading == Some(true) {
        report.add_once(Loss::warn(format!("{at}.defer_loading"), "the embedded model is shown every tool"));
    }
    if tool.cache_mark.is_some() {
        report.add_once(Loss::hint(at.as_str(), "cache marks are not needed: the last conversation is kept"));
    }
    match &tool.kind {
        ToolKind::Function { name, description, parameters, strict } => {
            if *strict == Some(true) {
                let why = "the embedded model's arguments are not held to the schema";
                report.add_once(Loss::warn(format!("{at}.strict"), why));
            }
            let shown = tools.add(*namespace, name, CallKind::Function);
            let parameters = parameters.as_ref().map_or(NO_PARAMETERS, |schema| schema.as_str());
            Ok(function(&shown, description.as_deref().unwrap_or_default(), parameters))
        }
        ToolKind::Custom { name, description, format } => {
            let why = "offered to the embedded model as a function with one text field";
            report.add(Loss::emulate(at.as_str(), why));
            let shown = tools.add(*namespace, name, CallKind::Custom);
            let field = serde_json::json!({ "type": "string", "description": explain(format.as_ref()) });
            let schema = serde_json::json!({
                "type": "object",
                "properties": { INPUT_FIELD: field },
                "required": [INPUT_FIELD],
            });
            if matches!(format, Some(CustomFormat::Grammar { .. })) {
                let why = "the embedded model is shown the grammar and is not held to it";
                report.add(Loss::warn(format!("{at}.format"), why));
            }
            Ok(function(&shown, description.as_deref().unwrap_or_default(), &schema.to_string()))
        }
        ToolKind::Hosted { tool, .. } => {
            Err(unsupported(at, &format!("cannot run the tool '{}'", tool.name())))
        }
        ToolKind::Namespace { name, .. } => {
            Err(unsupported(at, &format!("cannot be offered the namespace '{name}' inside another one")))
        }
    }
}

const NO_PARAMETERS: &str = r#"{"type":"object","properties":{}}"#;

/// The schema's text goes in as it is.
fn function(name: &str, description: &str, parameters: &str) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    format!(
        r#"{{"type":"function","function":{{"name":{},"description":{},"parameters":{parameters}}}}}"#,
        quoted(name),
        quoted(description)
    )
}

fn explain(format: Option<&CustomFormat>) -> String {
    match format {
        None | Some(CustomFormat::Text) => "The whole input of the tool, as plain text.".to_owned(),
        Some(CustomFormat::Grammar { syntax, definition }) => {
            let syntax = match syntax {
                GrammarSyntax::Lark => "Lark grammar",
                GrammarSyntax::Regex => "regular expression",
            };
            format!("The whole input of the tool, as plain text that matches this {syntax}:\n{definition}")
        }
    }
}
