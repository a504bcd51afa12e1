//! The form of a text (a JSON Schema, or any JSON object) for targets that do not hold to it by themselves
//! (translation contract §9): the model is made to call a tool of that form, whose arguments become the text; one
//! that cannot be made to is told in words. What came out is looked at by [`super::promise`].

use std::collections::HashMap;

use trilith_core::{
    Error, Event, Extra, Finish, FinishReason, Hold, Item, ItemBody, ItemStatus, Json, Loss, Message,
    OutputFormat, PartSpace, PartStart, Role, TextFormat, Tool, ToolChoice, ToolKind, ToolRef,
};

use super::{Draft, Filter, Flow, places::no_sense, promise::Promise};

/// What stands for a schema that was not given, and what JSON mode asks for.
const ANY_OBJECT: &str = r#"{"type":"object"}"#;

/// What the model is told of the tool.
const TOLD: &str =
    "Gives the answer. The arguments are the whole answer; call this once and say nothing else.";

/// The most that is kept of what a model says beside the call it is made to make, in bytes.
const MOST_ASIDE: usize = 1 << 20;

/// Asks for the form by other means where the target does not hold to all of it.
pub(super) fn emulate(draft: &mut Draft<'_>) -> Result<(), Error> {
    let format = match &draft.settings.output.format {
        None | Some(TextFormat::Text) => return Ok(()),
        Some(format) => format.clone(),
    };
    let hold = draft.hold();
    if hold == Hold::Whole {
        return Ok(());
    }
    let any = OutputFormat { name: None, description: None, schema: None, strict: None };
    let (asked, is_schema) = match &format {
        TextFormat::JsonSchema(asked) => (asked, true),
        TextFormat::JsonObject | TextFormat::Text => (&any, false),
    };
    let schema = asked.schema.clone().unwrap_or_else(|| Json::from_checked(ANY_OBJECT));
    draft.promise = Promise::new(draft.schemas, &schema, asked.strict == Some(true))?;
    if hold == Hold::Part {
        return Ok(());
    }
    let tools = may_call(draft);
    if tools && is_schema {
        return Err(both(&draft.settings.model));
    }
    if hold == Hold::Call && !tools {
        by_call(draft, asked, schema);
    } else if let Some(told) = format.in_words() {
        by_words(draft, told);
    }
    draft.settings_mut().output.format = None;
    Ok(())
}

/// Whether the model may call tools of the caller's.
fn may_call(draft: &Draft<'_>) -> bool {
    let added = |item: &Item| matches!(&item.body, ItemBody::ToolsChange(change) if !change.add.is_empty());
    draft.settings.tool_choice != Some(ToolChoice::None)
        && (!draft.settings.tools.is_empty() || draft.input.iter().any(added))
}

fn both(model: &str) -> Error {
    let text = format!(
        "'text.format' asks for JSON of a schema, which the model '{model}' cannot be held to while it has tools. \
         Leave one of the two out, or choose a model with structured output."
    );
    Error::bad_request("text.format", text).with_code("unsupported_parameter")
}

fn by_call(draft: &mut Draft<'_>, asked: &OutputFormat, schema: Json) {
    let mut name = asked.name.as_deref().filter(|name| !name.is_empty()).unwrap_or("response").to_owned();
    let taken = |name: &str| draft.settings.tools.iter().any(|tool| tool_named(tool, name));
    while taken(&name) {
        name.push('_');
    }
    let name: Box<str> = name.into();
    let description = match &asked.description {
        Some(own) => format!("{own}\n\n{TOLD}"),
        None => TOLD.to_owned(),
    };
    let kind = ToolKind::Function {
        name: name.clone(),
        description: Some(description),
        parameters: Some(schema),
        strict: Some(false),
    };
    let settings = draft.settings_mut();
    settings.tools.push(Tool::new(kind));
    settings.tool_choice = Some(ToolChoice::Tool(ToolRef::Function(name.clone())));
    let why = "asked for as the arguments of a tool that the model must call";
    draft.losses.push(Loss::emulate("text.format", why));
    draft.filter(move || Box::new(Unwrapped::new(name.clone())));
}

fn tool_named(tool: &Tool, name: &str) -> bool {
    match &tool.kind {
        ToolKind::Function { name: own, .. }
        | ToolKind::Custom { name: own, .. }
        | ToolKind::Namespace { name: own, .. } => &**own == name,
        ToolKind::Hosted { .. } => false,
    }
}

/// Tells the model after the platform's own words, before the conversation.
fn by_words(draft: &mut Draft<'_>, told: String) {
    let leads = |item: &Item| match &item.body {
        ItemBody::Message(message) => matches!(message.role, Role::System | Role::Developer),
        ItemBody::ToolsChange(_) => true,
        _ => false,
    };
    let place = draft.input.iter().position(|item| !leads(item)).unwrap_or(draft.input.len());
    draft.input.insert(place, Item::message(Role::Developer, told));
    draft.losses.push(Loss::emulate("text.format", "the model is told in words, and its answer looked at"));
}

/// Makes the text out of a call's arguments. What the model says beside the call is shown only where no call comes.
struct Unwrapped {
    name: Box<str>,
    /// What became of the target's items, by their place.
    items: HashMap<u32, Fate>,
    /// How many items were shown.
    shown: u32,
    /// Messages that wait until it is known whether a call comes, by answer.
    aside: HashMap<u16, Vec<Event>>,
    /// Bytes that wait.
    waiting: usize,
    /// The answers whose call came.
    made: Vec<u16>,
}

/// What became of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Shown at this place as it is.
    Shown(u32),
    /// Shown at this place as a text.
    Text(u32),
    /// It waits, for this answer.
    Aside(u16),
    /// Left out.
    Dropped,
}

impl Unwrapped {
    fn new(name: Box<str>) -> Self {
        Self { name, items: HashMap::new(), shown: 0, aside: HashMap::new(), waiting: 0, made: Vec::new() }
    }

    fn place(&mut self) -> u32 {
        let place = self.shown;
        self.shown = self.shown.saturating_add(1);
        place
    }

    fn added(&mut self, index: u32, choice: u16, item: Box<Item>, out: &mut Vec<Event>) {
        let made = self.made.contains(&choice);
        let fate = match &item.body {
            ItemBody::Call(call) if call.name == self.name && call.namespace.is_none() => {
                if made {
                    Fate::Dropped
                } else {
                    self.made.push(choice);
                    if self.aside.remove(&choice).is_some_and(|aside| !aside.is_empty()) {
                        out.push(Event::Loss(Loss::hint(
                            "text",
                            "what was said beside the JSON is left out",
                        )));
                    }
                    self.begin_text(choice, out)
                }
            }
            ItemBody::Message(_) if made => Fate::Dropped,
            ItemBody::Message(_) => Fate::Aside(choice),
            _ => Fate::Shown(self.place()),
        };
        self.items.insert(index, fate);
        match fate {
            Fate::Shown(place) => out.push(Event::ItemAdded { index: place, choice, item }),
            Fate::Aside(_) => {
                self.aside.entry(choice).or_default().push(Event::ItemAdded { index, choice, item });
            }
            Fate::Text(_) | Fate::Dropped => {}
        }
    }

    fn begin_text(&mut self, choice: u16, out: &mut Vec<Event>) -> Fate {
        let index = self.place();
        let message = Message { role: Role::Assistant, parts: Vec::new(), phase: None, name: None };
        let item = Item { status: Some(ItemStatus::InProgress), ..Item::new(ItemBody::Message(message)) };
        out.push(Event::ItemAdded { index, choice, item: Box::new(item) });
        out.push(Event::PartAdded { index, part: 0, start: PartStart::Text });
        Fate::Text(index)
    }

    fn of_item(&mut self, mut event: Event, index: u32, out: &mut Vec<Event>) -> Result<(), Error> {
        match self.items.get(&index).copied().ok_or_else(no_sense)? {
            Fate::Dropped => {}
            Fate::Aside(choice) => {
                if let Event::TextDelta { delta, .. } | Event::PartDelta { delta, .. } = &event {
                    self.waiting += delta.len();
                    if self.waiting > MOST_ASIDE {
                        return Err(Error::upstream(
                            "the upstream goes on beside the call that was asked for",
                        ));
                    }
                }
                self.aside.entry(choice).or_default().push(event);
            }
            Fate::Shown(place) => {
                if let Some(index) = event.index_mut() {
                    *index = place;
                }
                out.push(event);
            }
            Fate::Text(index) => match event {
                Event::ArgumentsDelta { delta, .. } => {
                    out.push(Event::TextDelta { index, part: 0, delta, logprobs: Vec::new() });
                }
                Event::ItemDone { status, .. } => {
                    out.push(Event::PartDone { index, part: 0, space: PartSpace::Content });
                    let (carriers, extra) = (Vec::new(), Extra::EMPTY);
                    out.push(Event::ItemDone { index, status, carriers, detail: None, extra });
                }
                _ => {}
            },
        }
        Ok(())
    }

    /// Shows what waited for a call that did not come.
    fn let_go(&mut self, choice: u16, out: &mut Vec<Event>) {
        for mut event in self.aside.remove(&choice).unwrap_or_default() {
            let Some(index) = event.index() else { continue };
            let place = match self.items.get(&index) {
                Some(Fate::Shown(place)) => *place,
                _ => self.place(),
            };
            self.items.insert(index, Fate::Shown(place));
            if let Some(index) = event.index_mut() {
                *index = place;
            }
            out.push(event);
        }
    }
}

impl Filter for Unwrapped {
    fn take(&mut self, batch: Vec<Event>, out: &mut Vec<Event>) -> Result<Flow, Error> {
        for event in batch {
            match event {
                Event::ItemAdded { index, choice, item } => self.added(index, choice, item, out),
                Event::Finish(Finish { choice, reason }) => {
                    self.let_go(choice, out);
                    let reason = match reason {
                        FinishReason::ToolCalls if self.made.contains(&choice) => FinishReason::Stop,
                        reason => reason,
                    };
                    out.push(Event::Finish(Finish { choice, reason }));
                }
                event => match event.index() {
                    Some(index) => self.of_item(event, index, out)?,
                    None => out.push(event),
                },
            }
        }
        Ok(Flow::More)
    }

    fn finish(&mut self, out: &mut Vec<Event>) -> Result<(), Error> {
        let mut waiting: Vec<u16> = self.aside.keys().copied().collect();
        waiting.sort_unstable();
        for choice in waiting {
            self.let_go(choice, out);
        }
        Ok(())
    }
}
