//! Call ids toward an upstream that takes fewer than callers use (translation contract §6).

use std::{borrow::Cow, collections::HashMap};

use trilith_core::{Item, ItemBody};

use crate::derived::derived;

/// The longest call id that OpenAI takes.
const LONGEST: usize = 64;

/// The id itself when it is legal; else one derived from it, the same for a call and its result.
fn wire_call_id(id: &str) -> Cow<'_, str> {
    let legal = !id.is_empty()
        && id.len() <= LONGEST
        && id.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'));
    if legal {
        return Cow::Borrowed(id);
    }
    Cow::Owned(derived("s_", id))
}

/// How often each id was met in a history. Some models begin anew with the same ids in every turn; the later pair of
/// a call and its result gets another one.
#[derive(Default)]
pub(super) struct Met<'t>(HashMap<&'t str, (usize, usize)>);

impl<'t> Met<'t> {
    /// The item's call id on the wire; `None` for items without.
    pub(super) fn wire(&mut self, item: &'t Item) -> Option<Cow<'t, str>> {
        let (id, times) = match &item.body {
            ItemBody::Call(call) => {
                let id = call.call_id.as_deref()?;
                let met = self.0.entry(id).or_default();
                met.0 += 1;
                (id, met.0)
            }
            ItemBody::Result(result) => {
                let id = result.call_id.as_deref()?;
                let met = self.0.entry(id).or_default();
                met.1 += 1;
                (id, met.0.min(met.1))
            }
            _ => return None,
        };
        if times <= 1 {
            return Some(wire_call_id(id));
        }
        Some(Cow::Owned(wire_call_id(&format!("{id}_{times}")).into_owned()))
    }
}
