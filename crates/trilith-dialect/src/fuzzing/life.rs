//! The life of a response around what an upstream said, as the runtime makes it: ids where they are missing,
//! what is open is closed, an end.

use std::{collections::VecDeque, sync::Arc};

use trilith_core::{
    Created, End, Error, Event, Extra, ItemBody, ItemStatus, PartSpace, Response, Settings, Status,
    StreamOptions, call_id, item_id,
};

use crate::{DIALECTS, Writer};

/// A response that grows, shown to a client of every dialect.
pub(super) struct Life {
    response: Response,
    open: Vec<(u32, VecDeque<(u32, PartSpace)>)>,
    writers: Vec<Box<dyn Writer>>,
    /// What each client has read, in the order of [`DIALECTS`].
    pub(super) read: Vec<Vec<u8>>,
}

impl Life {
    pub(super) fn new() -> Self {
        let created = Created {
            id: "resp_00000000000000000000000000000000".into(),
            created_at: 0,
            settings: Arc::new(Settings { model: "m".into(), ..Settings::default() }),
            store: false,
            background: false,
            previous_response_id: None,
            conversation: None,
        };
        let options = StreamOptions { stream: true, include_usage: true, include_obfuscation: Some(false) };
        let mut life = Self {
            response: Response::new(&created),
            open: Vec::new(),
            writers: DIALECTS.iter().map(|dialect| dialect.writer(options)).collect(),
            read: vec![Vec::new(); DIALECTS.len()],
        };
        life.show(&Event::Created(Box::new(created)));
        life.take(Event::Status(Status::InProgress));
        life
    }

    /// Takes an event of an upstream. Readers promise legal order, so that one that does not fit is their fault.
    pub(super) fn take(&mut self, mut event: Event) {
        self.admit(&mut event);
        let applied = self.response.apply(&event);
        assert!(applied.is_ok(), "{applied:?}: {event:?} onto {:?}", *self.response);
        self.show(&event);
    }

    /// Closes what is open and ends.
    pub(super) fn end(mut self, fault: Option<Error>) -> (Response, Vec<Vec<u8>>) {
        for (index, parts) in std::mem::take(&mut self.open) {
            for (part, space) in parts {
                self.take(Event::PartDone { index, part, space });
            }
            let (status, carriers, extra) = (ItemStatus::Incomplete, Vec::new(), Extra::EMPTY);
            self.take(Event::ItemDone { index, status, carriers, detail: None, extra });
        }
        let status = if fault.is_some() { Status::Failed } else { Status::Completed };
        self.take(Event::End(Box::new(End { status, incomplete: None, error: fault, at: 1 })));
        (self.response, self.read)
    }

    fn show(&mut self, event: &Event) {
        for (writer, read) in self.writers.iter_mut().zip(&mut self.read) {
            let before = read.len();
            writer.write(event, &self.response, read);
            let new = read.get(before..).unwrap_or_default();
            assert!(new.is_empty() || new.ends_with(b"\n\n"), "only whole frames may be flushed: {event:?}");
        }
    }

    fn admit(&mut self, event: &mut Event) {
        match event {
            Event::ItemAdded { index, item, .. } => {
                if item.id.as_deref().is_none_or(str::is_empty) {
                    item.id = Some(item_id(&self.response.id, &item.body, *index));
                }
                if let ItemBody::Call(call) = &mut item.body
                    && call.call_id.as_deref().is_none_or(str::is_empty)
                    && call.detail.is_none()
                {
                    call.call_id = Some(call_id(&self.response.id, *index));
                }
                item.status = Some(ItemStatus::InProgress);
                self.open.push((*index, VecDeque::new()));
            }
            Event::PartAdded { index, part, start } => {
                if let Some((_, parts)) = self.open.iter_mut().find(|(known, _)| known == index) {
                    parts.push_back((*part, start.space()));
                }
            }
            Event::PartDone { index, part, space } => {
                if let Some((_, parts)) = self.open.iter_mut().find(|(known, _)| known == index) {
                    parts.retain(|known| *known != (*part, *space));
                }
            }
            Event::ItemDone { index, .. } => self.open.retain(|(known, _)| known != index),
            _ => {}
        }
    }
}
