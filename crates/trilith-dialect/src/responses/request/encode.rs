//! A turn toward an upstream that speaks Responses. Trilith holds the state: nothing is stored there, no id
//! of it is mentioned, and the whole context goes along.

use trilith_core::{
    AnnotationKind, CacheMark, CallKind, CarrierKind, DialectId, Error, Instructions, Item, ItemBody, Loss,
    Part, PartKind, Reasoning, ResultOutput, Role, Turn,
};

use super::{fitted, functions, settings_out};
use crate::{
    dialect::{Encoded, Target, effective_tools},
    flat_tools::{flat, wrap_values},
    hints::{repeats, unplaced},
    names::NameMap,
    platform,
    responses::{
        call_id::Met,
        item::{View, result_type, write_item},
        object::{Object, write_list},
        tool::{write_choice_mapped, write_tool_mapped},
    },
    scan::ENVELOPE_PREFIX,
};

/// Room for what most items and tools take, in bytes, so that a long context is not copied from one buffer to
/// the next as it is written.
const ROOM: usize = 1 << 10;

/// Writes the request.
///
/// # Errors
/// The turn asks for something that changes the answer's meaning and that this dialect cannot say.
pub(in crate::responses) fn encode(turn: &Turn, target: &Target<'_>) -> Result<Encoded, Error> {
    let settings = &turn.settings;
    target.can.check_end(&settings.model, &turn.input)?;
    let losses = turn.check_conversation()?.into_iter().collect();
    let mut encoded = Encoded { losses, ..Encoded::default() };
    let many = turn.input.len() + settings.tools.len();
    let mut body = Vec::with_capacity(4096 + many * ROOM);
    let mut object = Object::open(&mut body);
    name_values(turn, target, &mut encoded.names);
    object.str("model", target.model);
    object.bool("stream", target.stream);
    object.bool("store", false);
    match &settings.instructions {
        Some(Instructions::Text(text)) => object.str("instructions", text),
        // A request's instructions are one text in the official SDKs' types; a list is known from echoes alone.
        Some(Instructions::Items(items)) if let Some(text) = plain_text(items) => {
            object.str("instructions", &text);
        }
        Some(Instructions::Items(items)) => {
            write_items(object.key("instructions"), (items, "instructions"), turn, target, &mut encoded)?;
        }
        None => {}
    }
    write_items(object.key("input"), (&turn.input, "input"), turn, target, &mut encoded)?;
    write_tools(&mut object, turn, target, &mut encoded)?;
    if let Some(parallel) = target.can.parallel(settings.parallel_tool_calls, &mut encoded.losses) {
        object.bool("parallel_tool_calls", parallel);
    }
    if let Some(most) = settings.max_tool_calls {
        object.int("max_tool_calls", most);
    }
    let carries = turn.input.iter().any(carries_native);
    settings_out::write(&mut object, settings, target.can, carries, &mut encoded.losses)?;
    object.close();
    encoded.body = drop_fields(body, target, &mut encoded.losses);
    Ok(encoded)
}

/// Leaves out the top-level fields that this upstream refuses.
fn drop_fields(body: Vec<u8>, target: &Target<'_>, losses: &mut Vec<Loss>) -> Vec<u8> {
    let refused = &target.quirks.drop_fields;
    if refused.is_empty() {
        return body;
    }
    let mut tape = crate::tape::Tape::default();
    let Ok(root) = tape.read_bytes(&body) else { return body };
    let mut out = Vec::with_capacity(body.len());
    let mut object = Object::open(&mut out);
    for (name, value) in root.members() {
        if refused.iter().any(|refused| **refused == *name) {
            losses.push(Loss::warn(&*name, "this upstream does not take the field; it was left out"));
        } else {
            object.raw(&name, value.raw());
        }
    }
    object.close();
    out
}

fn write_tools(
    object: &mut Object<'_>,
    turn: &Turn,
    target: &Target<'_>,
    encoded: &mut Encoded,
) -> Result<(), Error> {
    let settings = &turn.settings;
    target.can.check_choice(&settings.model, settings.tool_choice.as_ref())?;
    if !target.quirks.custom_tools {
        return functions::write(object, turn, target.can, encoded);
    }
    let tools = fitted::offered(turn, target.can, &mut encoded.losses)?;
    let names = &mut encoded.names;
    if !tools.is_empty() {
        write_list(object.key("tools"), &*tools, |out, tool| {
            write_tool_mapped(out, tool, true, &mut Some(names));
        });
    }
    if let Some(choice) = &settings.tool_choice {
        write_choice_mapped(object.key("tool_choice"), choice, &mut Some(names));
    }
    Ok(())
}

/// Remembers which functions take something else than an object, before the conversation's calls are written.
fn name_values(turn: &Turn, target: &Target<'_>, names: &mut NameMap) {
    let mut tools = flat(effective_tools(&turn.settings, &turn.input));
    if target.quirks.custom_tools {
        // Groups stay groups here, and their members' names are their own.
        tools.iter_mut().for_each(|(group, _)| *group = None);
    }
    wrap_values(&tools, names);
}

fn write_items(
    out: &mut Vec<u8>,
    (items, place): (&[Item], &str),
    turn: &Turn,
    target: &Target<'_>,
    encoded: &mut Encoded,
) -> Result<(), Error> {
    let marks = Marks::of(items);
    let mut mark = 0;
    let lead = items.iter().position(|item| !platform::leads(item)).unwrap_or(items.len());
    let mut met = Met::default();
    out.push(b'[');
    let start = out.len();
    for (n, item) in items.iter().enumerate() {
        let path = format!("{place}[{n}]");
        if !accept(item, &path, turn, target, &mut encoded.losses)? {
            continue;
        }
        fitted::check_media(item, &path, &turn.settings.model, target.can)?;
        let call_id = met.wire(item);
        let fit = fitted::item(item, n >= lead, &path, target.can, &mut encoded.losses)?;
        let item = fit.as_ref().unwrap_or(item);
        let trimmed = marks.trim(item, &mut mark, &path, &mut encoded.losses);
        let item = trimmed.as_ref().unwrap_or(item);
        if out.len() > start {
            out.push(b',');
        }
        write_one(out, item, call_id.as_deref(), target, &mut encoded.names);
    }
    out.push(b']');
    Ok(())
}

fn write_one(
    out: &mut Vec<u8>,
    item: &Item,
    call_id: Option<&str>,
    target: &Target<'_>,
    names: &mut NameMap,
) {
    let mut view = View {
        call_id,
        request: true,
        logprobs: true,
        encrypted: true,
        status: item.status,
        ..View::default()
    };
    let name;
    let mut changed = None;
    if !target.quirks.custom_tools {
        changed = functions::stand_in(item);
    }
    if let ItemBody::Call(call) = &item.body
        && call.kind == CallKind::Function
    {
        let group = call.namespace.as_deref().filter(|_| !target.quirks.custom_tools);
        let wire = names.outward(group, &call.name);
        changed = fitted::call(item, &wire, names);
    }
    let item = changed.as_ref().unwrap_or(item);
    match &item.body {
        ItemBody::Call(call) => {
            if matches!(call.kind, CallKind::Function | CallKind::Custom) {
                let keep = target.quirks.custom_tools;
                let group = call.namespace.as_deref();
                name = names.outward(group.filter(|_| !keep), &call.name);
                view.name = Some((group.filter(|_| keep), &name));
            }
        }
        // The names of tools that come in items are those of the wire, like any other's.
        ItemBody::ToolsChange(change) if target.quirks.custom_tools => {
            let mut object = Object::open(out);
            object.str("type", "additional_tools");
            if item.extra.get(DialectId::Responses, "role").is_none() {
                object.str("role", "developer");
            }
            write_list(object.key("tools"), &change.add, |out, tool| {
                write_tool_mapped(out, tool, true, &mut Some(names));
            });
            for field in item.extra.of(DialectId::Responses) {
                object.raw(&field.name, field.value.as_str());
            }
            return object.close();
        }
        _ => {}
    }
    write_item(out, item, &view);
}

/// Whether reasoning carries something that this dialect's own upstreams can read.
fn native(reasoning: &Reasoning) -> bool {
    reasoning.carriers.iter().any(|carrier| {
        carrier.kind == CarrierKind::Encrypted
            && !carrier.data.starts_with(ENVELOPE_PREFIX)
            && carrier.origin.as_ref().is_none_or(|origin| origin.dialect == DialectId::Responses)
    })
}

/// The text of items that are nothing but the platform's words, a blank line between two pieces. Marks in them have
/// no place: the prefix that they mark is cached by itself.
fn plain_text(items: &[Item]) -> Option<String> {
    let mut pieces = Vec::new();
    for item in items {
        let ItemBody::Message(message) = &item.body else { return None };
        if message.role != Role::System {
            return None;
        }
        for part in &message.parts {
            pieces.push(part.as_text()?);
        }
    }
    Some(pieces.join("\n\n"))
}

fn carries_native(item: &Item) -> bool {
    matches!(&item.body, ItemBody::Reasoning(reasoning) if native(reasoning))
}

/// Whether the item goes along; what is lost of it is said.
fn accept(
    item: &Item,
    path: &str,
    turn: &Turn,
    target: &Target<'_>,
    losses: &mut Vec<Loss>,
) -> Result<bool, Error> {
    for field in item.extra.foreign_to(DialectId::Responses) {
        let (at, why) = (format!("{path}.{}", field.name), "the upstream has no such field");
        losses.push(match repeats(field, &turn.settings) {
            true => Loss::hint(at, why),
            false => unplaced(field, at, why),
        });
    }
    match &item.body {
        ItemBody::Message(message) => {
            if message.name.is_some() {
                losses.push(Loss::warn(format!("{path}.name"), "the upstream has no names on messages"));
            }
            check_parts(&message.parts, &format!("{path}.content"), losses)?;
            // A message of nothing but what was left out would be refused.
            Ok(message.parts.iter().any(has_form) || message.parts.is_empty())
        }
        ItemBody::Reasoning(reasoning) => {
            let readable = target.quirks.replay_reasoning
                && !(reasoning.text.is_empty() && reasoning.summary.is_empty());
            if native(reasoning) || readable {
                return Ok(true);
            }
            losses.push(Loss::warn(path, "reasoning of another origin means nothing to this upstream"));
            Ok(false)
        }
        ItemBody::Result(result) => {
            if let ResultOutput::Parts(parts) = &result.output {
                check_parts(parts, &format!("{path}.output"), losses)?;
            }
            if result_type(result.kind).is_none() {
                losses.push(Loss::warn(path, "the upstream has no item for this tool's result"));
                return Ok(false);
            }
            Ok(true)
        }
        ItemBody::Compaction(compaction) => {
            let foreign = compaction.encrypted.starts_with(ENVELOPE_PREFIX)
                || compaction.origin.as_ref().is_some_and(|origin| origin.dialect != DialectId::Responses);
            if foreign {
                let why = "This compaction was made by another provider and cannot be continued by the model \
                           behind this request.";
                return Err(Error::bad_request(path, why).with_code("invalid_value"));
            }
            Ok(true)
        }
        ItemBody::Reference(id) => {
            let id: String = id.chars().take(128).collect();
            let why = format!("Item with id '{id}' not found.");
            Err(Error::bad_request("input", why))
        }
        ItemBody::ToolsChange(change) => {
            if !change.remove.is_empty() {
                let why = "The model behind this request cannot have tools taken away in mid-conversation.";
                return Err(Error::bad_request(path, why).with_code("unsupported_parameter"));
            }
            // Where it is not taken as an item, its tools are in the one list.
            Ok(target.quirks.custom_tools)
        }
        ItemBody::Opaque(opaque) => {
            let own = opaque.dialect == DialectId::Responses;
            if !own {
                losses.push(Loss::warn(path, "the upstream has no such item"));
            }
            Ok(own)
        }
        ItemBody::Call(_) | ItemBody::CompactionTrigger | ItemBody::ConfigurationUpdate(_) => Ok(true),
    }
}

fn has_form(part: &Part) -> bool {
    !matches!(&part.kind, PartKind::Opaque { dialect, .. } if *dialect != DialectId::Responses)
}

fn check_parts(parts: &[Part], path: &str, losses: &mut Vec<Loss>) -> Result<(), Error> {
    for (n, part) in parts.iter().enumerate() {
        if part.extra.get(DialectId::Chat, "file").is_some() {
            let at = format!("{path}[{n}]");
            let why = format!(
                "'{at}' names a file by an id that this model's upstream did not issue. Send the file's data \
                 instead."
            );
            return Err(Error::bad_request(at, why).with_code("unsupported_parameter"));
        }
        for field in part.extra.foreign_to(DialectId::Responses) {
            let at = format!("{path}[{n}].{}", field.name);
            losses.push(unplaced(field, at, "the upstream has no such field"));
        }
        let lost = match &part.kind {
            PartKind::Audio(audio) if audio.transcript.is_some() => {
                losses.push(Loss::emulate(format!("{path}[{n}]"), "what was said stands in place of the sound"));
                continue;
            }
            PartKind::Audio(_) => {
                let why = "The model behind this request takes no sound: send a transcript as text.";
                return Err(Error::bad_request(format!("{path}[{n}]"), why).with_code("unsupported_parameter"));
            }
            PartKind::Opaque { .. } => !has_form(part),
            PartKind::SearchResult(_) | PartKind::Json(_) => {
                losses.push(Loss::emulate(format!("{path}[{n}]"), "the data is sent as text"));
                false
            }
            PartKind::Text(text) => text.annotations.iter().any(|annotation| {
                matches!(annotation.kind, AnnotationKind::Opaque { dialect, .. } if dialect != DialectId::Responses)
            }),
            PartKind::Refusal(_) | PartKind::Image(_) | PartKind::Video(_) | PartKind::File(_) => false,
        };
        if lost {
            losses
                .push(Loss::warn(format!("{path}[{n}]"), "the upstream has no form for it; it was left out"));
        }
    }
    Ok(())
}

/// How many cache marks one request may carry (openai-checklist R17).
const MOST_MARKS: usize = 4;

/// Which cache marks go along: the first, and the last ones.
struct Marks {
    total: usize,
}

impl Marks {
    fn of(items: &[Item]) -> Self {
        Self { total: items.iter().flat_map(parts).filter(|part| part.cache_mark.is_some()).count() }
    }

    /// The item without the marks that are too many; `None` when it stays as it is.
    fn trim(&self, item: &Item, seen: &mut usize, path: &str, losses: &mut Vec<Loss>) -> Option<Item> {
        let own = parts(item).iter().filter(|part| part.cache_mark.is_some()).count();
        let (from, first_kept) = (*seen, self.total.saturating_sub(MOST_MARKS - 1));
        *seen += own;
        if self.total <= MOST_MARKS || own == 0 || from >= first_kept {
            return None;
        }
        let mut item = item.clone();
        let marked = parts_mut(&mut item).iter_mut().filter(|part| part.cache_mark.is_some());
        for (at, part) in (from..).zip(marked) {
            if at > 0 && at < first_kept {
                part.cache_mark = None::<CacheMark>;
                losses.push(Loss::hint(path, "more cache marks than the upstream takes"));
            }
        }
        Some(item)
    }
}

fn parts(item: &Item) -> &[Part] {
    match &item.body {
        ItemBody::Message(message) => &message.parts,
        ItemBody::Result(result) => match &result.output {
            ResultOutput::Parts(parts) => parts,
            ResultOutput::Text(_) => &[],
        },
        _ => &[],
    }
}

fn parts_mut(item: &mut Item) -> &mut [Part] {
    match &mut item.body {
        ItemBody::Message(message) => &mut message.parts,
        ItemBody::Result(result) => match &mut result.output {
            ResultOutput::Parts(parts) => parts,
            ResultOutput::Text(_) => &mut [],
        },
        _ => &mut [],
    }
}
