//! The calls of one choice. Servers disagree on everything about them: places may be missing, constant or
//! start at 1, ids may be missing, repeated or new with every piece, a name may come in fragments or again
//! and again, and arguments as an object, or as several objects in one text.

use trilith_core::{Call, CallKind, DialectId, Event, Extra, Item, ItemBody, ItemStatus, Json, Loss};

use crate::{
    assemble::Ends,
    chat::response::wire::{CallDelta, Called},
    names::Wrap,
};

/// The calls so far, in order of appearance.
pub(super) struct Calls {
    choice: u16,
    list: Vec<OpenCall>,
}

#[derive(Default)]
struct OpenCall {
    /// The item, once it was announced: as soon as the name is whole, which the first argument shows.
    item: Option<u32>,
    /// The upstream's place and id.
    place: Option<i64>,
    id: Option<String>,
    /// The id for the item: the upstream's, unless another call has it.
    own_id: Option<Box<str>>,
    custom: bool,
    /// It is a function that stands for a custom tool: its arguments are taken apart once they are whole.
    wrapped: Option<Wrap>,
    name: String,
    shape: Shape,
    /// Arguments that came before the name.
    held: String,
    extra: Extra,
}

/// What closing the calls showed.
pub(super) struct Closed {
    pub(super) made: usize,
    /// The last call is not whole.
    pub(super) cut: bool,
}

impl Calls {
    pub(super) const fn new(choice: u16) -> Self {
        Self { choice, list: Vec::new() }
    }

    /// Takes a piece of a call.
    pub(super) fn take(&mut self, delta: CallDelta<'_>, ends: &mut Ends<'_>) {
        let custom = delta.custom.is_some() || delta.kind.0.as_deref() == Some("custom");
        let called = delta.custom.or(delta.function).unwrap_or_default();
        let text = called.text().map(std::borrow::Cow::into_owned).unwrap_or_default();
        let name = called.name.filled().unwrap_or_default();
        let id = delta.id.filled();
        let found = self.find(delta.index.0, id.as_deref(), &name, &text);
        let at = match found {
            Some(at) => at,
            None => self.start(delta.index.0, id, custom, ends),
        };
        let Some(call) = self.list.get_mut(at) else { return };
        call.learn_name(name);
        if let Some(raw) = delta.extra_content
            && call.extra.is_empty()
        {
            call.extra.push(DialectId::Chat, "extra_content", Json::from_checked(raw.get()));
        }
        self.arguments(at, &text, ends);
    }

    /// Takes a piece of the deprecated form, which has one call and no id.
    pub(super) fn take_legacy(&mut self, called: Called<'_>, ends: &mut Ends<'_>) {
        self.take(CallDelta { function: Some(called), ..CallDelta::default() }, ends);
    }

    /// The call that a piece continues; `None` where it begins one.
    fn find(&self, place: Option<i64>, id: Option<&str>, name: &str, text: &str) -> Option<usize> {
        let by_place = place.and_then(|place| self.list.iter().rposition(|call| call.place == Some(place)));
        let by_id = id.and_then(|id| self.list.iter().rposition(|call| call.id.as_deref() == Some(id)));
        let at = match (by_place, by_id) {
            // A known id with a new place is another call when it is named again.
            (None, Some(_)) if place.is_some() && !name.is_empty() => return None,
            (_, Some(at)) if by_place.is_none_or(|place| place == at) => at,
            (Some(at), _) => at,
            (None, Some(at)) => at,
            (None, None) if id.is_none() && (place.is_none() || name.is_empty()) => {
                self.list.len().checked_sub(1)?
            }
            (None, None) => return None,
        };
        let call = self.list.get(at)?;
        let same_id = id.is_none() || call.id.is_none() || call.id.as_deref() == id;
        if call.begins_another(same_id, name, text) { None } else { Some(at) }
    }

    fn start(&mut self, place: Option<i64>, id: Option<String>, custom: bool, ends: &mut Ends<'_>) -> usize {
        self.announce_all(ends);
        let taken = self.list.iter().any(|call| call.id == id);
        let own_id = id.as_deref().filter(|_| !taken).map(Into::into);
        self.list.push(OpenCall { place, id, own_id, custom, ..OpenCall::default() });
        self.list.len() - 1
    }

    fn announce_all(&mut self, ends: &mut Ends<'_>) {
        let choice = self.choice;
        self.list.iter_mut().for_each(|call| call.announce(choice, ends));
    }

    fn arguments(&mut self, mut at: usize, mut text: &str, ends: &mut Ends<'_>) {
        let choice = self.choice;
        while let Some(call) = self.list.get_mut(at)
            && !text.is_empty()
        {
            let split = if call.custom { None } else { call.shape.feed(text) };
            let (mine, rest) = text.split_at(split.unwrap_or(text.len()));
            call.append(mine, choice, ends);
            if split.is_none() {
                return;
            }
            // A second object in the same text is a call of its own, of the same tool.
            let next = OpenCall { name: call.name.clone(), place: call.place, ..OpenCall::default() };
            self.list.push(next);
            at = self.list.len() - 1;
            text = rest;
        }
    }

    /// Closes every call.
    pub(super) fn close(&mut self, cut: bool, ends: &mut Ends<'_>) -> Closed {
        self.announce_all(ends);
        let mut closed = Closed { made: 0, cut: false };
        for call in std::mem::take(&mut self.list) {
            let Some(index) = call.item else {
                let path = format!("choices[{}].tool_calls", self.choice);
                ends.out.push(Event::Loss(Loss::warn(path, "a call without a name is left out")));
                continue;
            };
            if let Some(wrap) = call.wrapped {
                let delta = wrap.take_off(call.held);
                if !delta.is_empty() {
                    ends.out.push(Event::ArgumentsDelta { index, delta });
                }
            }
            let whole = call.custom || call.shape.is_whole();
            let status = if cut && !whole { ItemStatus::Incomplete } else { ItemStatus::Completed };
            closed.made += 1;
            closed.cut |= !whole;
            ends.out.push(Event::ItemDone {
                index,
                status,
                carriers: Vec::new(),
                detail: None,
                extra: call.extra,
            });
        }
        closed
    }
}

impl OpenCall {
    /// Whether a named piece with this call's place or id is the begin of another call all the same: this
    /// one is whole already, or bears another name.
    fn begins_another(&self, same_id: bool, name: &str, text: &str) -> bool {
        if name.is_empty() {
            return false;
        }
        let fragment = self.item.is_none() && self.held.is_empty();
        if self.shape.is_whole() && !self.custom {
            return !text.is_empty() || name != self.name;
        }
        if self.custom && self.item.is_some() {
            return !same_id;
        }
        // Nothing of its arguments came: a new id with another name is another call without arguments.
        fragment && !same_id && !self.name.is_empty() && name != self.name
    }

    fn learn_name(&mut self, name: String) {
        if self.item.is_some() || name.is_empty() || name == self.name {
            return;
        }
        if name.starts_with(&self.name) {
            self.name = name;
        } else {
            self.name.push_str(&name);
        }
    }

    fn announce(&mut self, choice: u16, ends: &mut Ends<'_>) {
        if self.item.is_some() || self.name.is_empty() {
            return;
        }
        let index = ends.next_item();
        let full = ends.names.inward(&self.name);
        self.wrapped = ends.names.wrapping(&self.name).filter(|_| !self.custom);
        let call = Call {
            kind: if self.custom {
                CallKind::Custom
            } else {
                self.wrapped.map_or(CallKind::Function, Wrap::kind)
            },
            call_id: self.own_id.take(),
            name: full.name,
            namespace: full.namespace,
            args: String::new(),
            caller: None,
            detail: None,
        };
        let mut item = Item { status: Some(ItemStatus::InProgress), ..Item::new(ItemBody::Call(call)) };
        item.extra = std::mem::take(&mut self.extra);
        ends.out.push(Event::ItemAdded { index, choice, item: Box::new(item) });
        self.item = Some(index);
        if !self.held.is_empty() && self.wrapped.is_none() {
            ends.out.push(Event::ArgumentsDelta { index, delta: std::mem::take(&mut self.held) });
        }
    }

    fn append(&mut self, text: &str, choice: u16, ends: &mut Ends<'_>) {
        self.announce(choice, ends);
        match self.item {
            Some(_) if self.wrapped.is_some() => self.held.push_str(text),
            Some(index) if !text.is_empty() => {
                ends.out.push(Event::ArgumentsDelta { index, delta: text.to_owned() });
            }
            Some(_) => {}
            None => self.held.push_str(text),
        }
    }
}

/// Follows a JSON object through its pieces, to know when it is whole.
#[derive(Clone, Copy, Default)]
struct Shape {
    depth: u32,
    in_string: bool,
    escaped: bool,
    whole: bool,
}

impl Shape {
    const fn is_whole(self) -> bool {
        self.whole
    }

    /// Reads on. Gives the place where a second object begins, and stops there.
    fn feed(&mut self, text: &str) -> Option<usize> {
        for (at, byte) in text.bytes().enumerate() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'{' if self.whole => return Some(at),
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth = self.depth.saturating_add(1),
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.whole |= self.depth == 0;
                }
                _ => {}
            }
        }
        None
    }
}
