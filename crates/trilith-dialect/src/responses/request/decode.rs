//! A client's request in items. Unknown top-level fields are accepted and ride along for the same dialect:
//! OpenAI's own clients send fields before they are documented.

use std::sync::Arc;

use trilith_core::{
    Error, ErrorKind, ErrorOrigin, Instructions, Item, ItemBody, Role, Settings, StateRef, StreamOptions,
    ToolChoice, ToolKind, ToolRef, Turn,
};

use super::settings_in;
use crate::{
    dialect::effective_tools,
    responses::{
        field::{Field, Side},
        item::decode_item,
        tool,
    },
    surrogates,
    tape::{Kind, Tape},
};

/// The longest text that `input` takes, in characters (openai-checklist R2).
const LONGEST_INPUT: usize = 10_485_760;

/// The most tools of one request, groups counted as one; no upstream is known to take as many.
const MOST_TOOLS: usize = 512;

/// Reads a request body.
///
/// # Errors
/// The body is no JSON object, or a field is wrong; the field is named.
pub(in crate::responses) fn decode(body: &[u8]) -> Result<Turn, Error> {
    let mut tape = Tape::default();
    let root = tape.read_bytes(body).map_err(|malformed| {
        Error::new(
            ErrorKind::BadRequest,
            ErrorOrigin::Caller,
            format!("The body is not valid JSON (byte {}).", malformed.0),
        )
    })?;
    surrogates::check(body)?;
    let root = Field::root(root, Side::Client);
    if root.value.kind() != Kind::Object {
        return Err(Error::new(
            ErrorKind::BadRequest,
            ErrorOrigin::Caller,
            "The body must be one JSON object.",
        ));
    }
    let state = state(&root)?;
    let stream = stream(&root)?;
    let input = input(&root, &state)?;
    let mut settings = Settings { model: model(&root)?, ..Settings::default() };
    settings.instructions = instructions(&root)?;
    tools(&root, &mut settings)?;
    settings_in::decode(&root, &mut settings)?;
    check_choice(&settings, &input, &state)?;
    Ok(Turn { settings: Arc::new(settings), input, state, stream, ..Turn::default() })
}

fn model(root: &Field<'_, '_>) -> Result<Box<str>, Error> {
    let model = root.need("model")?;
    let name = model.text()?;
    if name.is_empty() {
        return Err(model.wrong("expected the name of a model, but it is empty", "invalid_value"));
    }
    Ok(name.into())
}

fn state(root: &Field<'_, '_>) -> Result<StateRef, Error> {
    let conversation = match root.get("conversation") {
        None => None,
        Some(field) if field.value.kind() == Kind::Object => Some(field.need_box("id")?),
        Some(field) if field.value.kind() == Kind::String => Some(field.text()?.into()),
        Some(field) => return Err(field.expected("a string or an object")),
    };
    let state = StateRef {
        store: root.opt_bool("store")?,
        previous_response_id: root.opt_box("previous_response_id")?,
        conversation,
        background: root.opt_bool("background")?.unwrap_or(false),
    };
    if state.previous_response_id.is_some() && state.conversation.is_some() {
        let why = "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Give only one of them.";
        return Err(Error::bad_request("conversation", why).with_code("mutually_exclusive_parameters"));
    }
    if state.background && state.store == Some(false) {
        let why = "A response with 'background' must be stored: leave out 'store' or set it to true.";
        return Err(Error::bad_request("store", why).with_code("invalid_value"));
    }
    Ok(state)
}

fn stream(root: &Field<'_, '_>) -> Result<StreamOptions, Error> {
    let mut options =
        StreamOptions { stream: root.opt_bool("stream")?.unwrap_or(false), ..StreamOptions::default() };
    if let Some(field) = root.get("stream_options") {
        field.object()?;
        if !options.stream {
            return Err(field.wrong("it is only allowed when 'stream' is true", "invalid_value"));
        }
        options.include_obfuscation = field.opt_bool("include_obfuscation")?;
    }
    Ok(options)
}

fn input(root: &Field<'_, '_>, state: &StateRef) -> Result<Vec<Item>, Error> {
    let elsewhere =
        state.previous_response_id.is_some() || state.conversation.is_some() || root.get("prompt").is_some();
    let Some(field) = root.get("input") else {
        return if elsewhere { Ok(Vec::new()) } else { Err(root.missing("input")) };
    };
    match field.value.kind() {
        Kind::String => {
            let text = field.text()?;
            if text.len() > LONGEST_INPUT && text.chars().count() > LONGEST_INPUT {
                return Err(field.wrong("expected at most 10485760 characters", "string_above_max_length"));
            }
            return Ok(vec![Item::message(Role::User, text)]);
        }
        Kind::Array => {}
        _ => return Err(field.expected("a string or an array of input items")),
    }
    let mut items = Vec::new();
    let mut trigger = None;
    for (index, element) in field.list()?.enumerate() {
        let item = decode_item(&element)?;
        if trigger.is_some() {
            let at = trigger.unwrap_or_default();
            return Err(Error::bad_request(
                format!("input[{at}]"),
                "A 'compaction_trigger' must be the last input item.",
            )
            .with_code("invalid_value"));
        }
        if matches!(item.body, ItemBody::CompactionTrigger) {
            trigger = Some(index);
        }
        items.push(item);
    }
    // A first message may warm a connection up with nothing but instructions and tools.
    if items.is_empty() && !elsewhere && root.get("instructions").is_none() && root.get("generate").is_none()
    {
        return Err(field.wrong("expected at least one item", "empty_array"));
    }
    Ok(items)
}

fn instructions(root: &Field<'_, '_>) -> Result<Option<Instructions>, Error> {
    let Some(field) = root.get("instructions") else { return Ok(None) };
    match field.value.kind() {
        Kind::String => Ok(Some(Instructions::Text(field.text()?.into_owned()))),
        Kind::Array => {
            let items = field.list()?.map(|item| decode_item(&item)).collect::<Result<_, _>>()?;
            Ok(Some(Instructions::Items(items)))
        }
        _ => Err(field.expected("a string or an array of input items")),
    }
}

fn tools(root: &Field<'_, '_>, settings: &mut Settings) -> Result<(), Error> {
    if let Some(field) = root.get("tools") {
        if field.value.elements().count() > MOST_TOOLS {
            let why = format!("expected at most {MOST_TOOLS} tools");
            return Err(field.wrong(&why, "array_above_max_length"));
        }
        settings.tools = field.list()?.map(|tool| tool::decode_tool(&tool)).collect::<Result<_, _>>()?;
    }
    settings.tool_choice = match root.get("tool_choice") {
        Some(field) => Some(tool::decode_choice(&field)?),
        None => None,
    };
    settings.parallel_tool_calls = root.opt_bool("parallel_tool_calls")?;
    settings.max_tool_calls =
        root.opt_u64("max_tool_calls", 1, u64::from(u32::MAX))?.and_then(|n| u32::try_from(n).ok());
    Ok(())
}

/// A choice that nothing can satisfy is the caller's mistake. With state on the server the tools may be
/// known only there.
fn check_choice(settings: &Settings, input: &[Item], state: &StateRef) -> Result<(), Error> {
    if state.previous_response_id.is_some() || state.conversation.is_some() {
        return Ok(());
    }
    let tools = effective_tools(settings, input);
    let known = |reference: &ToolRef| {
        let (ToolRef::Function(wanted) | ToolRef::Custom(wanted)) = reference else { return true };
        tools.iter().any(|tool| match &tool.kind {
            ToolKind::Function { name, .. } | ToolKind::Custom { name, .. } => name == wanted,
            // Members of groups and what hosted tools bring are called by names of their own.
            ToolKind::Namespace { .. } | ToolKind::Hosted { .. } => true,
        })
    };
    let missing = match &settings.tool_choice {
        Some(ToolChoice::Required) if tools.is_empty() => {
            let why = "Tool choice 'required' must be specified with 'tools' parameter.";
            return Err(Error::bad_request("tool_choice", why).with_code("invalid_value"));
        }
        Some(ToolChoice::Tool(tool)) if !known(tool) => tool,
        Some(ToolChoice::Allowed { tools, .. }) => match tools.iter().find(|tool| !known(tool)) {
            Some(tool) => tool,
            None => return Ok(()),
        },
        _ => return Ok(()),
    };
    let name = match missing {
        ToolRef::Function(name) | ToolRef::Custom(name) => name,
        ToolRef::Hosted(..) | ToolRef::Mcp { .. } => return Ok(()),
    };
    let name: String = name.chars().take(128).collect();
    let why = format!("Tool choice '{name}' not found in 'tools' parameter.");
    Err(Error::bad_request("tool_choice", why).with_code("invalid_value"))
}
