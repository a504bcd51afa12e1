//! Items and tools as the model takes them, where that is less than the wire can say.

use std::borrow::Cow;

use trilith_core::{
    Error, Item, ItemBody, Json, Loss, Message, Part, PartKind, ResultOutput, Role, Tool, ToolKind, Turn,
};

use crate::{Capabilities, NameMap, deferred::Deferred, platform, schema};

/// The item in a form that the model takes; `None` where it takes it as it is. `between` tells that the
/// conversation has begun.
///
/// # Errors
/// There is no such form; the error names the part.
pub(super) fn item(
    item: &Item,
    between: bool,
    path: &str,
    can: &Capabilities,
    losses: &mut Vec<Loss>,
) -> Result<Option<Item>, Error> {
    let ItemBody::Message(message) = &item.body else { return Ok(None) };
    if !between || can.system_between_turns || !platform::speaks(message) {
        return Ok(None);
    }
    let text = platform::marked(message).map_err(|(number, kind)| {
        let at = format!("{path}.content[{number}]");
        let text = format!("'{at}' is {kind}, which the model takes from the user only.");
        Error::bad_request(at, text).with_code("unsupported_parameter")
    })?;
    losses.push(Loss::emulate(path, platform::MARKED));
    let mut part = Part::text(text);
    part.cache_mark = message.parts.iter().rev().find_map(|part| part.cache_mark);
    let message = Message { role: Role::User, parts: vec![part], phase: None, name: None };
    Ok(Some(Item::new(ItemBody::Message(message))))
}

/// Refuses images and documents that the model does not read.
///
/// # Errors
/// There is one; the error names its place.
pub(super) fn check_media(item: &Item, path: &str, model: &str, can: &Capabilities) -> Result<(), Error> {
    let (parts, field) = match &item.body {
        ItemBody::Message(message) => (&message.parts, "content"),
        ItemBody::Result(result) => match &result.output {
            ResultOutput::Parts(parts) => (parts, "output"),
            ResultOutput::Text(_) => return Ok(()),
        },
        _ => return Ok(()),
    };
    for (number, part) in parts.iter().enumerate() {
        let at = || format!("{path}.{field}[{number}]");
        match &part.kind {
            PartKind::Image(image) => can.check_image(model, &at(), image)?,
            PartKind::File(file) => can.check_file(model, &at(), file)?,
            _ => {}
        }
    }
    Ok(())
}

/// The tools of the request's own list as they are sent: none that is held back.
///
/// # Errors
/// A schema has no form here; the error names it.
pub(super) fn offered<'t>(
    turn: &'t Turn,
    can: &Capabilities,
    losses: &mut Vec<Loss>,
) -> Result<Cow<'t, [Tool]>, Error> {
    let listed: Vec<&Tool> = turn.settings.tools.iter().collect();
    let deferred = Deferred::of(turn, &listed);
    let sent = tools(&turn.settings.tools, "tools", can, losses)?;
    if !listed.iter().any(|tool| deferred.is_opened(tool)) {
        return Ok(sent);
    }
    let mut sent = sent.into_owned();
    sent.retain(|tool| !deferred.holds_back(tool, losses));
    for tool in &mut sent {
        tool.defer_loading = tool.defer_loading.filter(|_| !deferred.is_opened(tool));
    }
    Ok(Cow::Owned(sent))
}

/// The tools with schemas as the wire takes them and with no more strictness than the model has.
///
/// # Errors
/// A schema has no such form; the error names it.
pub(super) fn tools<'t>(
    tools: &'t [Tool],
    path: &str,
    can: &Capabilities,
    losses: &mut Vec<Loss>,
) -> Result<Cow<'t, [Tool]>, Error> {
    let mut fit = Cow::Borrowed(tools);
    for (number, tool) in tools.iter().enumerate() {
        let at = || format!("{path}[{number}]");
        let kind = match &tool.kind {
            ToolKind::Function { name, description, parameters: Some(parameters), strict } => {
                let before = losses.len();
                let schema = schema::parameters(&at(), Some(parameters), can, losses)?;
                let held = can.strict(&at(), *strict, losses);
                if losses.len() == before && schema.json == parameters.as_str() && held == *strict {
                    continue;
                }
                ToolKind::Function {
                    name: name.clone(),
                    description: description.clone(),
                    parameters: Some(Json::from_checked(schema.json)),
                    strict: held,
                }
            }
            ToolKind::Namespace { name, description, tools: members } => {
                match self::tools(members, &format!("{}.tools", at()), can, losses)? {
                    Cow::Borrowed(_) => continue,
                    Cow::Owned(tools) => {
                        ToolKind::Namespace { name: name.clone(), description: description.clone(), tools }
                    }
                }
            }
            ToolKind::Function { parameters: None, .. }
            | ToolKind::Custom { .. }
            | ToolKind::Hosted { .. } => {
                continue;
            }
        };
        if let Some(tool) = fit.to_mut().get_mut(number) {
            tool.kind = kind;
        }
    }
    Ok(fit)
}

/// A call whose arguments the wire has inside of an object; `None` for other items.
pub(super) fn call(item: &Item, wire: &str, names: &NameMap) -> Option<Item> {
    let wrap = names.wrapping(wire)?;
    let mut item = item.clone();
    if let ItemBody::Call(call) = &mut item.body {
        call.args = wrap.put_around(&call.args);
    }
    Some(item)
}
