//! Opaque carriers on their way: sealed when an upstream hands one over, opened for its own origin only
//! (translation contract §8). Between the two, the response, its stored row and every client hold envelopes.

use std::sync::Arc;

use trilith_core::{Carrier, CarrierKind, DialectId, Error, Event, Item, ItemBody, Loss, Origin, Sealer};

use crate::envelope::{self, PREFIX, PURPOSE};

/// Seals the carriers of an upstream's events.
pub(crate) fn seal(
    events: &mut [Event],
    sealer: &dyn Sealer,
    tenant: &str,
    origin: &Arc<Origin>,
) -> Result<(), Error> {
    for event in events {
        match event {
            Event::ItemDone { carriers, .. } => {
                for carrier in carriers {
                    seal_one(carrier, sealer, tenant, origin)?;
                }
            }
            Event::ItemAdded { item, .. } => match &mut item.body {
                ItemBody::Reasoning(reasoning) => {
                    for carrier in &mut reasoning.carriers {
                        seal_one(carrier, sealer, tenant, origin)?;
                    }
                }
                ItemBody::Compaction(compaction) if !compaction.encrypted.is_empty() => {
                    let packed = envelope::pack(CarrierKind::Encrypted, &compaction.encrypted, origin);
                    compaction.encrypted = sealer.seal(tenant, PURPOSE, &packed)?.into();
                }
                _ => {}
            },
            _ => {}
        }
    }
    Ok(())
}

fn seal_one(
    carrier: &mut Carrier,
    sealer: &dyn Sealer,
    tenant: &str,
    origin: &Arc<Origin>,
) -> Result<(), Error> {
    let packed = envelope::pack(carrier.kind, &carrier.data, origin);
    carrier.data = sealer.seal(tenant, PURPOSE, &packed)?.into();
    Ok(())
}

/// Where an item of the context stands in the client's request, for errors and reports.
pub(crate) struct Places {
    /// The client's dialect.
    pub(crate) client: DialectId,
    /// How many items of the context come from an earlier response and not from this request.
    pub(crate) history: usize,
    /// The place of each further item in the request, where that is not simply its number.
    pub(crate) input: Option<Vec<usize>>,
}

impl Places {
    /// The path of the item at `place` of the context.
    pub(crate) fn item(&self, place: usize) -> String {
        match place.checked_sub(self.history) {
            None => "previous_response_id".to_owned(),
            Some(at) if self.client == DialectId::Responses => {
                let at = self.input.as_ref().and_then(|input| input.get(at).copied()).unwrap_or(at);
                format!("input[{at}]")
            }
            // Several items may come from one message; which one is not kept.
            Some(_) => "messages".to_owned(),
        }
    }

    /// The path of a part of the item at `place` of the context.
    pub(crate) fn part(&self, place: usize, part: usize) -> String {
        let item = self.item(place);
        if place < self.history || self.client != DialectId::Responses {
            return item;
        }
        format!("{item}.content[{part}]")
    }

    /// The path of the carrier of the item at `place` of the context.
    fn carrier(&self, place: usize) -> String {
        let item = self.item(place);
        match self.client {
            _ if place < self.history => item,
            DialectId::Responses => format!("{item}.encrypted_content"),
            DialectId::Messages => item,
            _ => format!("{item}.reasoning_details"),
        }
    }
}

/// Opens every envelope in the items. Carriers without an envelope are left as they are.
///
/// # Errors
/// An envelope is forged, cut or another tenant's; the error names the item.
pub(crate) fn open(
    items: &mut [Item],
    sealer: &dyn Sealer,
    tenant: &str,
    places: &Places,
) -> Result<(), Error> {
    for (place, item) in items.iter_mut().enumerate() {
        let opened = match &mut item.body {
            ItemBody::Reasoning(reasoning) => {
                reasoning.carriers.iter_mut().try_for_each(|carrier| open_one(carrier, sealer, tenant))
            }
            ItemBody::Compaction(compaction) if compaction.encrypted.starts_with(PREFIX) => {
                let mut carrier = Carrier {
                    kind: CarrierKind::Encrypted,
                    data: std::mem::take(&mut compaction.encrypted),
                    origin: None,
                };
                open_one(&mut carrier, sealer, tenant).map(|()| {
                    compaction.encrypted = carrier.data;
                    compaction.origin = carrier.origin;
                })
            }
            _ => Ok(()),
        };
        opened.map_err(|error| error.with_param(places.carrier(place)))?;
    }
    Ok(())
}

fn open_one(carrier: &mut Carrier, sealer: &dyn Sealer, tenant: &str) -> Result<(), Error> {
    if !carrier.data.starts_with(PREFIX) {
        return Ok(());
    }
    let bytes = sealer.open(tenant, PURPOSE, &carrier.data)?;
    *carrier = envelope::unpack(&bytes).ok_or_else(|| {
        Error::bad_request("encrypted_content", "this sealed content was made by another version of Trilith")
    })?;
    Ok(())
}

/// Leaves only what `target` made itself, or what a client of its own dialect brought without an envelope.
/// `target` is `None` for an upstream without a wire, which takes no carrier at all.
///
/// # Errors
/// Compacted history cannot be read by this target: going on without it would lose the conversation.
pub(crate) fn keep_native(
    items: &mut [Item],
    places: &Places,
    target: Option<&Origin>,
) -> Result<Vec<Loss>, Error> {
    let native = |origin: Option<&Arc<Origin>>| match (origin, target) {
        (_, None) => false,
        // The model may change in mid-conversation: the account is what can read its own carriers.
        (Some(made), Some(target)) => {
            made.dialect == target.dialect
                && made.upstream == target.upstream
                && made.account == target.account
        }
        (None, Some(target)) => target.dialect == places.client,
    };
    let mut losses = Vec::new();
    for (place, item) in items.iter_mut().enumerate() {
        let path = || places.carrier(place);
        match &mut item.body {
            ItemBody::Reasoning(reasoning) => {
                let before = reasoning.carriers.len();
                reasoning.carriers.retain(|carrier| native(carrier.origin.as_ref()));
                if reasoning.carriers.len() < before {
                    losses
                        .push(Loss::warn(path(), "another upstream made it, and only that one can read it"));
                }
            }
            ItemBody::Compaction(compaction) if !native(compaction.origin.as_ref()) => {
                return Err(Error::bad_request(
                    path(),
                    "this compacted history was made by another upstream and cannot be read by this model; \
                     go on with the model that made it, or send the conversation itself",
                ));
            }
            _ => {}
        }
    }
    Ok(losses)
}
