//! Items toward the wire: in a request, in an answer, in a list.

use trilith_core::{
    Call, CallKind, CallResult, Caller, CarrierKind, DialectId, Item, ItemBody, ItemStatus, Json, Phase,
    Reasoning, ResultOutput, ResultStatus, Role,
};

use super::{
    kinds::{call_has_id, call_has_status, call_type, result_type, status_word},
    part_out::{Voice, write_parts},
};
use crate::{
    responses::{
        object::{Object, write_list},
        tool::write_tool,
    },
    scan::{ENVELOPE_PREFIX, write_string},
};

/// Set before the output of a failed tool, since this wire has no field for failure
/// (translation contract §7.2).
const FAILED_TOOL: &str = "[the tool failed]\n";

/// How an item is shown.
#[derive(Clone, Debug, Default)]
pub(in crate::responses) struct View<'a> {
    /// The item's id; none in requests, where only the upstream's own ids would mean something.
    pub(in crate::responses) id: Option<&'a str>,
    /// The call's id, where it is not the item's own.
    pub(in crate::responses) call_id: Option<&'a str>,
    /// The tool's namespace and name on this wire, where they are not the item's own.
    pub(in crate::responses) name: Option<(Option<&'a str>, &'a str)>,
    /// How far it got, for the kinds that say so.
    pub(in crate::responses) status: Option<ItemStatus>,
    /// As history in a request.
    pub(in crate::responses) request: bool,
    /// With log-probabilities.
    pub(in crate::responses) logprobs: bool,
    /// With encrypted reasoning.
    pub(in crate::responses) encrypted: bool,
}

/// Writes one item. Nothing is written for an item that this wire has no form for.
pub(in crate::responses) fn write_item(out: &mut Vec<u8>, item: &Item, view: &View<'_>) {
    match &item.body {
        ItemBody::Opaque(opaque) => {
            if opaque.dialect == DialectId::Responses {
                out.extend_from_slice(opaque.json.as_str().as_bytes());
            }
            return;
        }
        ItemBody::Result(result) if result_type(result.kind).is_none() => return,
        _ => {}
    }
    let mut object = Object::open(out);
    object.str("type", item_type(&item.body));
    match &item.body {
        ItemBody::Reference(id) => object.str("id", id),
        _ => object.opt_str("id", view.id),
    }
    if has_status(&item.body, view) {
        object.opt_str("status", view.status.map(status_word));
    }
    match &item.body {
        ItemBody::Message(message) => {
            object.str("role", message.role.name());
            if let Some(phase) = message.phase {
                object.str("phase", phase_word(phase));
            }
            let voice = match message.role {
                Role::Assistant if view.request => Voice::History,
                Role::Assistant => Voice::Output { logprobs: view.logprobs },
                Role::System | Role::Developer | Role::User => Voice::Input,
            };
            write_parts(object.key("content"), &message.parts, voice);
        }
        ItemBody::Reasoning(reasoning) => write_reasoning(&mut object, reasoning, view),
        ItemBody::Call(call) => write_call(&mut object, call, view),
        ItemBody::Result(result) => write_result(&mut object, result, view),
        ItemBody::Compaction(compaction) => object.str("encrypted_content", &compaction.encrypted),
        ItemBody::ConfigurationUpdate(update) => write_members(&mut object, update),
        ItemBody::ToolsChange(change) => {
            if item.extra.get(DialectId::Responses, "role").is_none() {
                object.str("role", "developer");
            }
            write_list(object.key("tools"), &change.add, |out, tool| write_tool(out, tool, view.request));
        }
        ItemBody::CompactionTrigger | ItemBody::Reference(_) | ItemBody::Opaque(_) => {}
    }
    for field in item.extra.of(DialectId::Responses) {
        object.raw(&field.name, field.value.as_str());
    }
    object.close();
}

fn item_type(body: &ItemBody) -> &'static str {
    match body {
        ItemBody::Message(_) | ItemBody::Opaque(_) => "message",
        ItemBody::Reasoning(_) => "reasoning",
        ItemBody::Call(call) => call_type(call.kind),
        ItemBody::Result(result) => result_type(result.kind).unwrap_or("function_call_output"),
        ItemBody::Compaction(_) => "compaction",
        ItemBody::CompactionTrigger => "compaction_trigger",
        ItemBody::ConfigurationUpdate(_) => "configuration_update",
        ItemBody::ToolsChange(_) => "additional_tools",
        ItemBody::Reference(_) => "item_reference",
    }
}

fn has_status(body: &ItemBody, view: &View<'_>) -> bool {
    match body {
        ItemBody::Message(_) => true,
        ItemBody::Call(call) => call_has_status(call.kind),
        ItemBody::Result(result) => result.kind != CallKind::McpApproval,
        // Finished reasoning says nothing, as the recorded streams show; what was cut short does.
        ItemBody::Reasoning(_) => view.status == Some(ItemStatus::Incomplete),
        ItemBody::Compaction(_)
        | ItemBody::CompactionTrigger
        | ItemBody::ConfigurationUpdate(_)
        | ItemBody::ToolsChange(_)
        | ItemBody::Reference(_)
        | ItemBody::Opaque(_) => false,
    }
}

const fn phase_word(phase: Phase) -> &'static str {
    match phase {
        Phase::Commentary => "commentary",
        Phase::FinalAnswer => "final_answer",
    }
}

fn write_reasoning(object: &mut Object<'_>, reasoning: &Reasoning, view: &View<'_>) {
    let texts = |out: &mut Vec<u8>, word: &str, texts: &[String]| {
        write_list(out, texts, |out, text| {
            let mut part = Object::open(out);
            part.str("type", word);
            part.str("text", text);
            part.close();
        });
    };
    texts(object.key("summary"), "summary_text", &reasoning.summary);
    if !reasoning.text.is_empty() {
        texts(object.key("content"), "reasoning_text", &reasoning.text);
    }
    // What is sealed fits any slot; what is not fits only its own.
    let carrier = reasoning
        .carriers
        .iter()
        .find(|carrier| carrier.kind == CarrierKind::Encrypted || carrier.data.starts_with(ENVELOPE_PREFIX));
    if let Some(carrier) = carrier.filter(|_| view.encrypted) {
        object.str("encrypted_content", &carrier.data);
    }
}

/// The arguments as they are shown: nothing said means no arguments (translation contract §1).
pub(in crate::responses) fn shown_args(call: &Call) -> &str {
    if call.kind != CallKind::Custom && call.args.trim().is_empty() { "{}" } else { &call.args }
}

fn write_call(object: &mut Object<'_>, call: &Call, view: &View<'_>) {
    if call_has_id(call.kind) {
        match view.call_id.or(call.call_id.as_deref()) {
            Some(id) => object.str("call_id", id),
            None if call.kind == CallKind::ToolSearch => object.raw("call_id", "null"),
            None => {}
        }
    }
    let (namespace, name) = view.name.unwrap_or((call.namespace.as_deref(), &call.name));
    match call.kind {
        CallKind::Function | CallKind::Custom => {
            object.str("name", name);
            object.opt_str("namespace", namespace);
            let (word, args) = match call.kind {
                CallKind::Custom => ("input", call.args.as_str()),
                // While the item grows, nothing said yet is nothing.
                _ if view.status == Some(ItemStatus::InProgress) && !view.request => {
                    ("arguments", call.args.as_str())
                }
                _ => ("arguments", shown_args(call)),
            };
            object.str(word, args);
        }
        CallKind::Mcp | CallKind::McpApproval => {
            object.str("name", name);
            object.str("arguments", &call.args);
        }
        _ => {}
    }
    if let Some(detail) = &call.detail {
        write_members(object, detail);
    }
    write_caller(object, call.caller.as_ref());
}

fn write_result(object: &mut Object<'_>, result: &CallResult, view: &View<'_>) {
    let id = view.call_id.or(result.call_id.as_deref());
    match result.kind {
        CallKind::ToolSearch if id.is_none() => object.raw("call_id", "null"),
        CallKind::LocalShell | CallKind::McpApproval => {}
        _ => object.opt_str("call_id", id),
    }
    match &result.detail {
        Some(detail) => write_members(object, detail),
        None => {
            object.opt_str("name", result.name.as_deref());
            object.opt_str("namespace", result.namespace.as_deref());
            let failed = result.status == Some(ResultStatus::Error);
            let out = object.key("output");
            match &result.output {
                ResultOutput::Text(text) if failed => write_string(out, &format!("{FAILED_TOOL}{text}")),
                ResultOutput::Text(text) => write_string(out, text),
                ResultOutput::Parts(parts) => write_parts(out, parts, Voice::Input),
            }
        }
    }
    write_caller(object, result.caller.as_ref());
}

fn write_caller(object: &mut Object<'_>, caller: Option<&Caller>) {
    let Some(caller) = caller else { return };
    let mut inner = Object::open(object.key("caller"));
    match caller {
        Caller::Direct => inner.str("type", "direct"),
        Caller::Program(id) => {
            inner.str("type", "program");
            inner.str("caller_id", id);
        }
    }
    inner.close();
}

/// The members of a JSON object, as they stand.
fn write_members(object: &mut Object<'_>, json: &Json) {
    let inner = json.as_str().trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    if let Some(inner) = inner.map(str::trim).filter(|inner| !inner.is_empty()) {
        object.members(inner);
    }
}
