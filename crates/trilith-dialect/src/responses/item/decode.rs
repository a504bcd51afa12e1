//! Items from the wire. Ids that Trilith never issued are accepted, and a message may lack its `type`.

use std::borrow::Cow;

use trilith_core::{
    Call, CallKind, CallResult, Caller, Carrier, CarrierKind, Compaction, DialectId, Error, Extra, Item,
    ItemBody, ItemStatus, Json, Message, Opaque, Part, PartKind, Phase, Reasoning, ResultOutput, Role,
    ToolsChange,
};

use super::{kinds, part_in::decode_part};
use crate::responses::{
    field::{Field, Side},
    tool,
};
use crate::tape::Kind;

/// One item.
///
/// # Errors
/// A field is wrong; it is named. An upstream's unknown items are kept as they are instead.
pub(in crate::responses) fn decode_item(field: &Field<'_, '_>) -> Result<Item, Error> {
    field.object()?;
    let word = match field.opt_text("type")? {
        Some(word) => word,
        None if field.value.get("role").is_some() => Cow::Borrowed("message"),
        None if field.value.get("id").is_some() => Cow::Borrowed("item_reference"),
        None => return Err(field.missing("type")),
    };
    let (body, known): (ItemBody, &[&str]) = match &*word {
        "message" => (message(field)?, &["role", "content", "phase"]),
        "reasoning" => (reasoning(field)?, &["summary", "content", "encrypted_content"]),
        "compaction" => (compaction(field)?, &["encrypted_content"]),
        "compaction_trigger" => (ItemBody::CompactionTrigger, &[]),
        "configuration_update" => {
            let update = own_fields(field, &["type", "id", "status"]);
            return finish(field, ItemBody::ConfigurationUpdate(update), None);
        }
        "additional_tools" => (tools_change(field)?, &["role", "tools"]),
        "item_reference" => return Ok(Item::new(ItemBody::Reference(field.need_box("id")?))),
        word => match (kinds::call_kind(word), kinds::result_kind(word)) {
            (Some(kind @ (CallKind::Function | CallKind::Custom)), _) => {
                (call(field, kind)?, &["call_id", "name", "namespace", "arguments", "input", "caller"])
            }
            (Some(kind), _) => return finish(field, hosted_call(field, kind)?, None),
            (_, Some(kind @ (CallKind::Function | CallKind::Custom))) => {
                (result(field, kind)?, &["call_id", "name", "namespace", "output", "caller"])
            }
            (_, Some(kind)) => return finish(field, hosted_result(field, kind)?, None),
            (None, None) if field.side == Side::Upstream || word.contains(':') => return opaque(field, word),
            (None, None) => {
                let word = word.to_owned();
                return Err(field.need("type")?.unsupported(&word, &kinds::known_types()));
            }
        },
    };
    finish(field, body, Some(known))
}

/// Adds what every item may have. `known` are the body's own fields; the others ride along.
fn finish(field: &Field<'_, '_>, body: ItemBody, known: Option<&[&str]>) -> Result<Item, Error> {
    let mut item = Item::new(body);
    item.id = field.opt_box("id")?.filter(|id| !id.is_empty());
    item.status = status(field)?;
    if let Some(known) = known {
        item.extra = rest(field, &[&["type", "id", "status"], known]);
    }
    Ok(item)
}

fn status(field: &Field<'_, '_>) -> Result<Option<ItemStatus>, Error> {
    let Some(word) = field.get("status") else { return Ok(None) };
    match (kinds::status(&word.text()?), word.side) {
        (None, Side::Client) => {
            Err(word.unsupported(&word.text()?, &["in_progress", "completed", "incomplete", "failed"]))
        }
        (status, _) => Ok(status),
    }
}

/// The members that are in none of the lists of known ones; nulls are left out.
pub(in crate::responses) fn rest(field: &Field<'_, '_>, known: &[&[&str]]) -> Extra {
    let mut extra = Extra::EMPTY;
    for (name, value) in field.value.members() {
        if !value.is_null() && !known.iter().any(|list| list.contains(&&*name)) {
            extra.push(DialectId::Responses, &*name, value.json());
        }
    }
    extra
}

/// The object without the members that are held elsewhere, the others as they stand.
fn own_fields(field: &Field<'_, '_>, without: &[&str]) -> Json {
    let mut text = String::with_capacity(field.value.raw().len());
    text.push('{');
    for (name, value) in field.value.members().filter(|(name, _)| !without.contains(&&**name)) {
        if text.len() > 1 {
            text.push(',');
        }
        let mut key = Vec::with_capacity(name.len() + 3);
        crate::scan::write_string(&mut key, &name);
        text.push_str(&String::from_utf8_lossy(&key));
        text.push(':');
        text.push_str(value.raw());
    }
    text.push('}');
    Json::from_checked(text)
}

fn message(field: &Field<'_, '_>) -> Result<ItemBody, Error> {
    let role = match (field.opt_text("role")?.as_deref(), field.side) {
        (Some("user"), _) => Role::User,
        (Some("system"), _) => Role::System,
        (Some("developer"), _) => Role::Developer,
        (Some("assistant"), _) | (_, Side::Upstream) => Role::Assistant,
        (Some(word), Side::Client) => {
            let known = ["user", "assistant", "system", "developer"];
            return Err(field.need("role")?.unsupported(word, &known));
        }
        (None, Side::Client) => return Err(field.missing("role")),
    };
    let parts = match field.get("content") {
        Some(content) => content_of(&content)?,
        None if field.side == Side::Upstream => Vec::new(),
        None => return Err(field.missing("content")),
    };
    let declined = parts.iter().position(|part| matches!(part.kind, PartKind::Refusal(_)));
    if let Some(at) = declined.filter(|_| field.side == Side::Client && role != Role::Assistant)
        && let Some(content) = field.get("content")
        && let Some(part) = content.list()?.nth(at)
    {
        return Err(part.need("type")?.wrong("only an assistant message can be a refusal", "invalid_value"));
    }
    let phase = match (field.opt_text("phase")?.as_deref(), field.side) {
        (None, _) => None,
        (Some("commentary"), _) => Some(Phase::Commentary),
        (Some("final_answer"), _) => Some(Phase::FinalAnswer),
        (Some(_), Side::Upstream) => None,
        (Some(word), Side::Client) => {
            return Err(field.need("phase")?.unsupported(word, &["commentary", "final_answer"]));
        }
    };
    Ok(ItemBody::Message(Message { role, parts, phase, name: None }))
}

/// A string, or a list of parts.
fn content_of(content: &Field<'_, '_>) -> Result<Vec<Part>, Error> {
    match content.value.kind() {
        Kind::String => Ok(vec![Part::text(content.text()?)]),
        Kind::Array => content.list()?.map(|part| decode_part(&part)).collect(),
        _ => Err(content.expected("a string or an array of content parts")),
    }
}

fn reasoning(field: &Field<'_, '_>) -> Result<ItemBody, Error> {
    let texts = |name: &str| -> Result<Vec<String>, Error> {
        let Some(list) = field.get(name) else { return Ok(Vec::new()) };
        list.list()?.map(|part| Ok(part.need("text")?.text()?.into_owned())).collect()
    };
    let mut reasoning =
        Reasoning { summary: texts("summary")?, text: texts("content")?, carriers: Vec::new() };
    if let Some(data) = field.opt_box("encrypted_content")?.filter(|data| !data.is_empty()) {
        reasoning.carriers.push(Carrier { kind: CarrierKind::Encrypted, data, origin: None });
    }
    Ok(ItemBody::Reasoning(reasoning))
}

fn compaction(field: &Field<'_, '_>) -> Result<ItemBody, Error> {
    let encrypted = match field.side {
        Side::Client => field.need_box("encrypted_content")?,
        Side::Upstream => field.opt_box("encrypted_content")?.unwrap_or_default(),
    };
    Ok(ItemBody::Compaction(Compaction { encrypted, origin: None }))
}

fn tools_change(field: &Field<'_, '_>) -> Result<ItemBody, Error> {
    let tools = field.need("tools")?;
    let add = tools.list()?.map(|tool| tool::decode_tool(&tool)).collect::<Result<_, _>>()?;
    Ok(ItemBody::ToolsChange(ToolsChange { add, remove: Vec::new() }))
}

fn caller(field: &Field<'_, '_>) -> Result<Option<Caller>, Error> {
    let Some(caller) = field.get("caller") else { return Ok(None) };
    caller.object()?;
    match (caller.opt_text("type")?.as_deref(), field.side) {
        (Some("direct"), _) => Ok(Some(Caller::Direct)),
        (Some("program"), _) => Ok(Some(Caller::Program(caller.need_box("caller_id")?))),
        (_, Side::Upstream) => Ok(None),
        (Some(word), Side::Client) => Err(caller.need("type")?.unsupported(word, &["direct", "program"])),
        (None, Side::Client) => Err(caller.missing("type")),
    }
}

/// A text field of a call. Some upstreams send arguments as an object: its text is what the model wrote.
fn args(field: &Field<'_, '_>, name: &str) -> Result<String, Error> {
    match (field.get(name), field.side) {
        (Some(args), Side::Client) => Ok(args.text()?.into_owned()),
        (Some(args), Side::Upstream) => {
            Ok(args.value.string().map_or_else(|| args.value.raw().to_owned(), Cow::into_owned))
        }
        (None, Side::Client) => Err(field.missing(name)),
        (None, Side::Upstream) => Ok(String::new()),
    }
}

fn call_id(field: &Field<'_, '_>, needed: bool) -> Result<Option<Box<str>>, Error> {
    let id = field.opt_box("call_id")?.filter(|id| !id.is_empty());
    if id.is_none() && needed && field.side == Side::Client {
        return Err(field.missing("call_id"));
    }
    Ok(id)
}

fn call(field: &Field<'_, '_>, kind: CallKind) -> Result<ItemBody, Error> {
    let name = match field.side {
        Side::Client => field.need_box("name")?,
        Side::Upstream => field.opt_box("name")?.unwrap_or_default(),
    };
    Ok(ItemBody::Call(Call {
        kind,
        call_id: call_id(field, true)?,
        name,
        namespace: field.opt_box("namespace")?,
        args: args(field, if kind == CallKind::Custom { "input" } else { "arguments" })?,
        caller: caller(field)?,
        detail: None,
    }))
}

/// A call of another kind. Only what MCP calls share with functions is read; the rest stays as it is.
fn hosted_call(field: &Field<'_, '_>, kind: CallKind) -> Result<ItemBody, Error> {
    let mcp = matches!(kind, CallKind::Mcp | CallKind::McpApproval);
    let needs_id = kinds::call_has_id(kind) && kind != CallKind::ToolSearch;
    let mut without = vec!["type", "id", "status", "call_id", "caller"];
    let (mut name, mut text) = (Box::default(), String::new());
    if mcp {
        without.extend(["name", "arguments"]);
        name = field.opt_box("name")?.unwrap_or_default();
        text = args(field, "arguments")?;
    }
    Ok(ItemBody::Call(Call {
        kind,
        call_id: call_id(field, needs_id)?,
        name,
        namespace: None,
        args: text,
        caller: caller(field)?,
        detail: Some(own_fields(field, &without)),
    }))
}

fn result(field: &Field<'_, '_>, kind: CallKind) -> Result<ItemBody, Error> {
    let name = field.opt_box("name")?;
    let output = match field.get("output") {
        Some(output) => match output.value.kind() {
            Kind::String => ResultOutput::Text(output.text()?.into_owned()),
            Kind::Array => {
                ResultOutput::Parts(output.list()?.map(|part| decode_part(&part)).collect::<Result<_, _>>()?)
            }
            _ => return Err(output.expected("a string or an array of content parts")),
        },
        None => return Err(field.missing("output")),
    };
    Ok(ItemBody::Result(CallResult {
        kind,
        call_id: call_id(field, name.is_none())?,
        name,
        namespace: field.opt_box("namespace")?,
        status: None,
        output,
        caller: caller(field)?,
        detail: None,
    }))
}

fn hosted_result(field: &Field<'_, '_>, kind: CallKind) -> Result<ItemBody, Error> {
    let needs_id = !matches!(kind, CallKind::LocalShell | CallKind::ToolSearch | CallKind::McpApproval);
    Ok(ItemBody::Result(CallResult {
        kind,
        call_id: call_id(field, needs_id)?,
        name: None,
        namespace: None,
        status: None,
        output: ResultOutput::Text(String::new()),
        caller: caller(field)?,
        detail: Some(own_fields(field, &["type", "id", "status", "call_id", "caller"])),
    }))
}

/// An item that has no form here: kept whole, its id and status inside.
fn opaque(field: &Field<'_, '_>, word: &str) -> Result<Item, Error> {
    let mut item = Item::new(ItemBody::Opaque(Opaque {
        dialect: DialectId::Responses,
        kind: word.into(),
        json: field.value.json(),
    }));
    item.id = field.opt_box("id")?;
    item.status = status(field)?;
    Ok(item)
}
