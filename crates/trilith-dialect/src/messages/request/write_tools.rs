//! Tools and the choice among them, on the way out.

use serde_json::value::RawValue;
use trilith_core::{
    CustomFormat, Error, HostedTool, Json, Loss, Tool, ToolChoice, ToolChoiceMode, ToolKind, ToolRef,
};

use super::{
    CACHE_CONTROL, DECLARATION, STRICT, decode::OWN, encode::Encoder, object::object,
    write_blocks::write_mark,
};
use crate::json::{List, Object};
use crate::{
    effective_tools,
    flat_tools::{Placed, flat, wire_name, wrap_values},
    names::Wrap,
    schema,
};

/// A function of which nothing but its name is known.
const OPEN_SCHEMA: &str = r#"{"type":"object"}"#;

object! {
    SearchConfig<'a> {
        kind: &'a RawValue = "type",
        filters: Filters<'a> = "filters",
        user_location: &'a RawValue = "user_location",
    }
}
object! {
    Filters<'a> {
        allowed_domains: &'a RawValue = "allowed_domains",
        blocked_domains: &'a RawValue = "blocked_domains",
    }
}

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
            "The model '{}' is served by a Messages upstream, which cannot run the tool '{tool}'. Remove the \
             tool or choose a model whose provider has it.",
            self.turn.settings.model
        );
        Error::bad_request(at, text).with_code("unsupported_parameter")
    }

    fn tool(&mut self, at: &str, (namespace, tool): Placed<'t>, list: &mut List<'_>) -> Result<(), Error> {
        self.foreign(at, &tool.extra);
        if let Some(declaration) = tool.extra.get(OWN, DECLARATION) {
            if let Some(name) = crate::tool_name(tool) {
                self.names.outward(None, name);
            }
            if tool.cache_mark.is_some() {
                self.marks.next_of_tools();
            }
            list.item().extend_from_slice(declaration.as_str().as_bytes());
            return Ok(());
        }
        let mut out = list.object();
        match &tool.kind {
            ToolKind::Function { name, description, parameters, strict } => {
                out.string("name", &self.names.outward(namespace, name));
                out.optional_string("description", description.as_deref());
                let schema = schema::parameters(at, parameters.as_ref(), self.target.can, &mut self.losses)?;
                out.raw("input_schema", &schema.json);
                // Strictness that only this wire takes for such a schema.
                let own = tool.extra.get(OWN, STRICT).map(|_| true);
                if self.target.can.strict(at, own.or(*strict), &mut self.losses) == Some(true) {
                    out.bool("strict", true);
                }
            }
            ToolKind::Custom { name, description, format } => {
                self.custom(at, (namespace, name), description.as_deref(), format.as_ref(), &mut out);
            }
            ToolKind::Hosted { tool, config } => self.hosted(at, *tool, config, &mut out)?,
            ToolKind::Namespace { name, .. } => return Err(self.reject(at, name)),
        }
        if let Some(deferred) = tool.defer_loading {
            out.bool("defer_loading", deferred);
        }
        for field in tool.extra.of(OWN).filter(|field| ![CACHE_CONTROL, STRICT].contains(&&*field.name)) {
            out.json(&field.name, &field.value);
        }
        if let Some(mark) = tool.cache_mark {
            if self.marks.next_of_tools() {
                write_mark(mark, tool.extra.get(OWN, CACHE_CONTROL), &mut out);
            } else {
                self.losses.push(Loss::hint(at, "the cache mark is left out"));
            }
        }
        out.end();
        Ok(())
    }

    /// A custom tool as a function of one text. The reader of the answer takes the text out again.
    fn custom(
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
        out.string("name", &wire);
        out.optional_string("description", crate::custom::description(description, format).as_deref());
        out.raw("input_schema", crate::custom::PARAMETERS);
    }

    /// A tool of the upstream's own.
    fn hosted(
        &mut self,
        at: &str,
        tool: HostedTool,
        config: &Json,
        out: &mut Object<'_>,
    ) -> Result<(), Error> {
        let Some((kind, name)) = hosted_name(tool) else { return Err(self.reject(at, tool.name())) };
        out.string("type", kind);
        out.string("name", name);
        let Ok(config) = crate::typed::from_str::<SearchConfig<'_>>(config.as_str()) else {
            return Err(self.reject(at, tool.name()));
        };
        let there = |list: &Option<&RawValue>| list.is_some_and(|list| list.get() != "[]");
        let filters = config.filters.unwrap_or_default();
        // Both lists at once are refused, even if one is empty.
        match (there(&filters.allowed_domains), there(&filters.blocked_domains)) {
            (true, true) => {
                let text = format!(
                    "'{at}.filters' names both allowed and blocked domains; this upstream takes one list."
                );
                return Err(Error::bad_request(at, text).with_code("unsupported_parameter"));
            }
            (true, false) => out.raw("allowed_domains", filters.allowed_domains.map_or("[]", RawValue::get)),
            (false, true) => out.raw("blocked_domains", filters.blocked_domains.map_or("[]", RawValue::get)),
            (false, false) => {}
        }
        if let Some(location) = config.user_location {
            out.raw("user_location", location.get());
        }
        for (name, value) in config.rest.iter().filter(|(_, value)| value.get() != "null") {
            // A container that the upstream picks is what it does anyway.
            if !(&**name == "container" && value.get() == r#"{"type":"auto"}"#) {
                self.losses.push(Loss::warn(format!("{at}.{name}"), "Messages has no place for it"));
            }
        }
        Ok(())
    }

    fn choice(&mut self, choice: &ToolChoice) -> Result<(&'static str, Option<Box<str>>), Error> {
        Ok(match choice {
            ToolChoice::None => ("none", None),
            ToolChoice::Auto | ToolChoice::Allowed { mode: ToolChoiceMode::Auto, .. } => ("auto", None),
            ToolChoice::Required | ToolChoice::Allowed { mode: ToolChoiceMode::Required, .. } => {
                ("any", None)
            }
            ToolChoice::Tool(ToolRef::Function(name) | ToolRef::Custom(name)) => {
                let tools = flat(effective_tools(&self.turn.settings, &self.turn.input));
                ("tool", Some(wire_name(&mut self.names, &tools, name)))
            }
            ToolChoice::Tool(ToolRef::Hosted(tool, _)) => match hosted_name(*tool) {
                Some((_, name)) => ("tool", Some(name.into())),
                None => return Err(self.reject("tool_choice", tool.name())),
            },
            ToolChoice::Tool(ToolRef::Mcp { server_label, .. }) => {
                return Err(self.reject("tool_choice", server_label));
            }
        })
    }

    fn write_choice(&mut self, out: &mut Object<'_>) -> Result<(), Error> {
        let turn = self.turn;
        let settings = &turn.settings;
        let (mode, name) = match &settings.tool_choice {
            Some(choice) => {
                let (mode, name) = self.choice(choice)?;
                (Some(mode), name)
            }
            None => (None, None),
        };
        self.target.can.check_choice(&settings.model, settings.tool_choice.as_ref())?;
        let asked = settings.parallel_tool_calls.filter(|_| mode != Some("none"));
        let single = self.target.can.parallel(asked, &mut self.losses) == Some(false);
        if mode.is_none() && !single || !self.takes("tool_choice") {
            return Ok(());
        }
        let mut object = out.object("tool_choice");
        object.string("type", mode.unwrap_or("auto"));
        object.optional_string("name", name.as_deref());
        if single {
            object.bool("disable_parallel_tool_use", true);
        }
        object.end();
        Ok(())
    }
}

/// The type and the name of this wire's tool that does the same.
const fn hosted_name(tool: HostedTool) -> Option<(&'static str, &'static str)> {
    match tool {
        HostedTool::WebSearch | HostedTool::WebSearchPreview => Some(("web_search_20250305", "web_search")),
        HostedTool::CodeInterpreter => Some(("code_execution_20250825", "code_execution")),
        _ => None,
    }
}

/// Whether a reference names the tool.
fn names(reference: &ToolRef, (group, tool): Placed<'_>) -> bool {
    match (reference, &tool.kind) {
        (ToolRef::Hosted(named, _), ToolKind::Hosted { tool, .. }) => named == tool,
        (ToolRef::Function(name) | ToolRef::Custom(name), _) => {
            let own = crate::tool_name(tool);
            own == Some(name) || name.split_once('.').is_some_and(|(g, n)| group == Some(g) && own == Some(n))
        }
        _ => false,
    }
}

pub(super) fn write(encoder: &mut Encoder<'_>, out: &mut Object<'_>) -> Result<(), Error> {
    let turn = encoder.turn;
    let settings = &turn.settings;
    let effective = effective_tools(settings, &turn.input);
    if effective.is_empty() {
        return no_tools(encoder, settings.tool_choice.as_ref(), out);
    }
    let subset = match &settings.tool_choice {
        Some(ToolChoice::Allowed { tools, .. }) => {
            let why = "only these tools are sent: Messages knows no choice among some";
            encoder.losses.push(Loss::emulate("tool_choice", why));
            Some(tools)
        }
        _ => None,
    };
    let mut list = List::new(out.key("tools"));
    for (place, tool) in effective.iter().enumerate() {
        let at = format!("tools[{place}]");
        about_group(encoder, &at, tool);
        for placed in flat(vec![tool]) {
            if subset.is_none_or(|subset| subset.iter().any(|reference| names(reference, placed))) {
                encoder.tool(&at, placed, &mut list)?;
            }
        }
    }
    let none = list.is_empty();
    list.end();
    if none {
        let text = "Invalid value for 'tool_choice': none of the tools it allows is among the tools.";
        return Err(Error::bad_request("tool_choice", text).with_code("invalid_value"));
    }
    encoder.write_choice(out)
}

fn about_group(encoder: &mut Encoder<'_>, at: &str, tool: &Tool) {
    if let ToolKind::Namespace { description: Some(_), .. } = &tool.kind {
        let why = "Messages has no namespaces: their tools are sent one by one, joined names";
        encoder.losses.push(Loss::hint(format!("{at}.description"), why));
    }
}

/// Without tools there is nothing to choose from; only a choice that asks for a call is wrong then. Tools that
/// the conversation called are declared all the same, since the wire may refuse calls of unknown ones.
fn no_tools(
    encoder: &mut Encoder<'_>,
    choice: Option<&ToolChoice>,
    out: &mut Object<'_>,
) -> Result<(), Error> {
    if !matches!(choice, None | Some(ToolChoice::None | ToolChoice::Auto)) {
        let text = "Invalid value for 'tool_choice': a call is asked for, but the request has no tools.";
        return Err(Error::bad_request("tool_choice", text).with_code("invalid_value"));
    }
    let called = std::mem::take(&mut encoder.called);
    if called.is_empty() {
        return Ok(());
    }
    let mut list = out.list("tools");
    for name in called {
        let mut object = list.object();
        object.string("name", &name);
        object.raw("input_schema", OPEN_SCHEMA);
        object.end();
    }
    list.end();
    let mut object = out.object("tool_choice");
    object.string("type", "none");
    object.end();
    encoder
        .losses
        .push(Loss::emulate("tools", "tools of the conversation are declared, and none may be called"));
    Ok(())
}
