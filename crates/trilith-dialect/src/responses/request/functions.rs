//! Tools toward upstreams that know functions only: one flat list, groups as prefixes of names, and a function
//! in place of each custom tool (translation contract §5).

use trilith_core::{CallKind, Error, Item, ItemBody, Json, Tool, ToolChoice, ToolKind, ToolRef, Turn};

use crate::{
    Capabilities, custom,
    deferred::Deferred,
    dialect::{Encoded, effective_tools},
    flat_tools::{Placed, flat, wire_name},
    names::{NameMap, Wrap},
    responses::{
        object::{Object, write_list},
        tool::{write_choice, write_tool},
    },
    schema,
};

/// Writes the tools and the choice among them.
pub(super) fn write(
    object: &mut Object<'_>,
    turn: &Turn,
    can: &Capabilities,
    encoded: &mut Encoded,
) -> Result<(), Error> {
    let effective = effective_tools(&turn.settings, &turn.input);
    let mut list = Vec::new();
    let deferred = Deferred::of(turn, &effective);
    for (n, tool) in effective.iter().enumerate() {
        if deferred.holds_back(tool, &mut encoded.losses) {
            continue;
        }
        let at = format!("tools[{n}]");
        for placed in flat(vec![*tool]) {
            list.push(function(&at, placed, can, encoded)?);
        }
    }
    if !list.is_empty() {
        write_list(object.key("tools"), &list, |out, tool| write_tool(out, tool, true));
    }
    if let Some(choice) = &turn.settings.tool_choice {
        let tools = flat(effective);
        write_choice(object.key("tool_choice"), &chosen(choice, &tools, &mut encoded.names)?);
    }
    Ok(())
}

/// The tool as a function with its wire name.
fn function(
    at: &str,
    (group, tool): Placed<'_>,
    can: &Capabilities,
    encoded: &mut Encoded,
) -> Result<Tool, Error> {
    let mut out = tool.clone();
    // Such an upstream has no search that could load it.
    out.defer_loading = None;
    out.kind = match &tool.kind {
        ToolKind::Function { name, description, parameters, strict } => ToolKind::Function {
            name: encoded.names.outward(group, name),
            description: description.clone(),
            parameters: Some(Json::from_checked(
                schema::parameters(at, parameters.as_ref(), can, &mut encoded.losses)?.json,
            )),
            strict: can.strict(at, *strict, &mut encoded.losses),
        },
        ToolKind::Custom { name, description, format } => {
            let name = encoded.names.outward(group, name);
            encoded.names.wrap(&name, Wrap::Custom);
            custom::losses(at, format.as_ref(), &mut encoded.losses);
            ToolKind::Function {
                name,
                description: custom::description(description.as_deref(), format.as_ref()),
                parameters: Some(Json::from_checked(custom::PARAMETERS)),
                strict: Some(false),
            }
        }
        ToolKind::Hosted { tool, .. } => return Err(refuse(at, tool.name())),
        ToolKind::Namespace { name, .. } => return Err(refuse(at, name)),
    };
    Ok(out)
}

fn refuse(at: &str, tool: &str) -> Error {
    let why = format!("The model behind this request knows functions only and cannot run the tool '{tool}'.");
    Error::bad_request(at, why).with_code("unsupported_parameter")
}

/// The choice with wire names.
fn chosen(choice: &ToolChoice, tools: &[Placed<'_>], names: &mut NameMap) -> Result<ToolChoice, Error> {
    let mut reference = |tool: &ToolRef| match tool {
        ToolRef::Function(name) | ToolRef::Custom(name) => {
            Ok(ToolRef::Function(wire_name(names, tools, name)))
        }
        ToolRef::Hosted(tool, _) => Err(refuse("tool_choice", tool.name())),
        ToolRef::Mcp { server_label, .. } => Err(refuse("tool_choice", server_label)),
    };
    Ok(match choice {
        ToolChoice::None | ToolChoice::Auto | ToolChoice::Required => choice.clone(),
        ToolChoice::Tool(tool) => ToolChoice::Tool(reference(tool)?),
        ToolChoice::Allowed { mode, tools } => {
            let tools = tools.iter().map(reference).collect::<Result<_, _>>()?;
            ToolChoice::Allowed { mode: *mode, tools }
        }
    })
}

/// The call of a custom tool, or its result, as that of the function in its place; `None` for other items.
pub(super) fn stand_in(item: &Item) -> Option<Item> {
    let custom = match &item.body {
        ItemBody::Call(call) => call.kind == CallKind::Custom,
        ItemBody::Result(result) => result.kind == CallKind::Custom,
        _ => false,
    };
    let mut item = custom.then(|| item.clone())?;
    match &mut item.body {
        ItemBody::Call(call) => {
            call.kind = CallKind::Function;
            call.args = custom::wrap(&call.args);
        }
        ItemBody::Result(result) => result.kind = CallKind::Function,
        _ => {}
    }
    Some(item)
}
