//! Tools and the choice among them, on the way out.

use trilith_core::{
    CustomFormat, DialectId, Error, GrammarSyntax, ToolChoice, ToolChoiceMode, ToolKind, ToolRef,
};

use super::{encode::Encoder, tools::function_fields};
use crate::{
    chat::json::{List, Object},
    deferred::Deferred,
    effective_tools,
    flat_tools::{Placed, flat, wire_name, wrap_values},
    names::Wrap,
    schema,
};

impl<'t> Encoder<'t> {
    /// Gives every tool its wire name. Names with a namespace come first: a joined name that equals another
    /// tool's plain one must be known before the plain one passes unchanged.
    pub(super) fn name_tools(&mut self) {
        let tools = flat(effective_tools(&self.turn.settings, &self.turn.input));
        for (namespace, tool) in tools.iter().filter(|(namespace, _)| namespace.is_some()) {
            if let Some(name) = crate::tool_name(tool) {
                self.names.outward(*namespace, name);
            }
        }
        wrap_values(&tools, &mut self.names);
    }

    fn reject(&self, at: &str, tool: &str) -> Error {
        let text = format!(
            "The model '{}' is served by a Chat Completions upstream, which cannot run the tool '{tool}'. \
             Remove the tool or choose a model whose provider has it.",
            self.turn.settings.model
        );
        Error::bad_request(at, text).with_code("unsupported_parameter")
    }

    fn tool(&mut self, at: &str, (namespace, tool): Placed<'t>, out: &mut Object<'_>) -> Result<(), Error> {
        match &tool.kind {
            ToolKind::Function { name, description, parameters, strict } => {
                out.string("type", "function");
                let mut object = out.object("function");
                object.string("name", &self.names.outward(namespace, name));
                object.optional_string("description", description.as_deref());
                let schema = schema::parameters(at, parameters.as_ref(), self.target.can, &mut self.losses)?;
                object.raw("parameters", &schema.json);
                if self.target.can.strict(at, *strict, &mut self.losses) == Some(true) {
                    object.bool("strict", true);
                }
                for (name, value) in function_fields(&tool.extra) {
                    object.json(name, value);
                }
                object.end();
            }
            ToolKind::Custom { name, description, format } => {
                if !self.target.quirks.custom_tools {
                    self.emulated(at, (namespace, name), description.as_deref(), format.as_ref(), out);
                    return Ok(());
                }
                out.string("type", "custom");
                let mut object = out.object("custom");
                object.string("name", &self.names.outward(namespace, name));
                object.optional_string("description", description.as_deref());
                if let Some(format) = format {
                    custom_format(format, &mut object);
                }
                object.end();
            }
            ToolKind::Hosted { tool, .. } => return Err(self.reject(at, tool.name())),
            ToolKind::Namespace { name, .. } => return Err(self.reject(at, name)),
        }
        for field in tool.extra.of(DialectId::Chat).filter(|field| !field.name.starts_with("function.")) {
            out.json(&field.name, &field.value);
        }
        self.foreign(at, &tool.extra);
        if tool.cache_mark.is_some() {
            let why = "Chat Completions has no cache mark on tools";
            self.losses.push(trilith_core::Loss::hint(format!("{at}.cache_control"), why));
        }
        Ok(())
    }

    /// A custom tool as a function of one text, for an upstream that knows functions only. The reader of the
    /// answer takes the text out again.
    fn emulated(
        &mut self,
        at: &str,
        (namespace, name): (Option<&str>, &str),
        description: Option<&str>,
        format: Option<&CustomFormat>,
        out: &mut Object<'_>,
    ) {
        let wire = self.names.outward(namespace, name);
        self.names.wrap(&wire, Wrap::Custom);
        crate::custom::losses(at, format, &mut self.losses);
        out.string("type", "function");
        let mut object = out.object("function");
        object.string("name", &wire);
        object.optional_string("description", crate::custom::description(description, format).as_deref());
        object.raw("parameters", crate::custom::PARAMETERS);
        object.end();
    }

    fn choice(&mut self, choice: &ToolChoice, out: &mut Object<'_>) -> Result<(), Error> {
        match choice {
            ToolChoice::None => out.string("tool_choice", "none"),
            ToolChoice::Auto => out.string("tool_choice", "auto"),
            ToolChoice::Required => out.string("tool_choice", "required"),
            ToolChoice::Tool(tool) => {
                let mut object = out.object("tool_choice");
                self.tool_ref(tool, &mut object)?;
                object.end();
            }
            ToolChoice::Allowed { mode, tools } => {
                let mut object = out.object("tool_choice");
                object.string("type", "allowed_tools");
                let mut allowed = object.object("allowed_tools");
                allowed.string(
                    "mode",
                    match mode {
                        ToolChoiceMode::Auto => "auto",
                        ToolChoiceMode::Required => "required",
                    },
                );
                let mut list = allowed.list("tools");
                for tool in tools {
                    let mut entry = list.object();
                    self.tool_ref(tool, &mut entry)?;
                    entry.end();
                }
                list.end();
                allowed.end();
                object.end();
            }
        }
        Ok(())
    }

    fn tool_ref(&mut self, tool: &ToolRef, out: &mut Object<'_>) -> Result<(), Error> {
        let (kind, name) = match tool {
            ToolRef::Function(name) => ("function", name),
            ToolRef::Custom(name) => ("custom", name),
            ToolRef::Hosted(tool, _) => return Err(self.reject("tool_choice", tool.name())),
            ToolRef::Mcp { server_label, .. } => return Err(self.reject("tool_choice", server_label)),
        };
        let tools = flat(effective_tools(&self.turn.settings, &self.turn.input));
        let wire = wire_name(&mut self.names, &tools, name);
        let kind = if self.names.wrapping(&wire).is_some() { "function" } else { kind };
        out.string("type", kind);
        let mut object = out.object(kind);
        object.string("name", &wire);
        object.end();
        Ok(())
    }
}

pub(super) fn write(encoder: &mut Encoder<'_>, out: &mut Object<'_>) -> Result<(), Error> {
    let turn = encoder.turn;
    let settings = &turn.settings;
    let effective = effective_tools(settings, &turn.input);
    if effective.is_empty() {
        return no_tools(settings.tool_choice.as_ref());
    }
    let deferred = Deferred::of(turn, &effective);
    let mut tools = List::new(out.key("tools"));
    for (place, tool) in effective.iter().enumerate() {
        if deferred.holds_back(tool, &mut encoder.losses) {
            continue;
        }
        let at = format!("tools[{place}]");
        if let ToolKind::Namespace { description: Some(_), .. } = &tool.kind {
            let why = "Chat Completions has no namespaces: their tools are sent one by one, joined names";
            encoder.losses.push(trilith_core::Loss::hint(format!("{at}.description"), why));
        }
        for placed in flat(vec![tool]) {
            let mut entry = tools.object();
            encoder.tool(&at, placed, &mut entry)?;
            entry.end();
        }
    }
    tools.end();
    let can = encoder.target.can;
    can.check_choice(&settings.model, settings.tool_choice.as_ref())?;
    if let Some(choice) = &settings.tool_choice
        && encoder.takes("tool_choice")
    {
        encoder.choice(choice, out)?;
    }
    if let Some(parallel) = can.parallel(settings.parallel_tool_calls, &mut encoder.losses)
        && encoder.takes("parallel_tool_calls")
    {
        out.bool("parallel_tool_calls", parallel);
    }
    Ok(())
}

/// Without tools there is nothing to choose from; only a choice that asks for a call is wrong then.
fn no_tools(choice: Option<&ToolChoice>) -> Result<(), Error> {
    match choice {
        None | Some(ToolChoice::None | ToolChoice::Auto) => Ok(()),
        Some(_) => {
            let text = "Invalid value for 'tool_choice': a call is asked for, but the request has no tools.";
            Err(Error::bad_request("tool_choice", text).with_code("invalid_value"))
        }
    }
}

const fn syntax_word(syntax: GrammarSyntax) -> &'static str {
    match syntax {
        GrammarSyntax::Lark => "lark",
        GrammarSyntax::Regex => "regex",
    }
}

fn custom_format(format: &CustomFormat, out: &mut Object<'_>) {
    let mut object = out.object("format");
    match format {
        CustomFormat::Text => object.string("type", "text"),
        CustomFormat::Grammar { syntax, definition } => {
            object.string("type", "grammar");
            let mut grammar = object.object("grammar");
            grammar.string("syntax", syntax_word(*syntax));
            grammar.string("definition", definition);
            grammar.end();
        }
    }
    object.end();
}
