//! What an envelope holds: a carrier with its origin, as length-prefixed strings.

use std::sync::Arc;

use trilith_core::{Carrier, CarrierKind, DialectId, Origin};

/// The envelope's prefix; nothing else that Trilith emits begins like this.
pub(crate) const PREFIX: &str = "tl1.";

/// The purpose under which carriers are sealed.
pub(crate) const PURPOSE: &str = "carrier";

const VERSION: u8 = 1;

pub(crate) fn pack(kind: CarrierKind, data: &str, origin: &Origin) -> Vec<u8> {
    let fields = [kind.name(), origin.dialect.name(), &origin.upstream, &origin.model, &origin.account, data];
    let mut out = Vec::with_capacity(32 + fields.iter().map(|field| field.len() + 4).sum::<usize>());
    out.push(VERSION);
    for field in fields {
        out.extend_from_slice(&(field.len() as u64).to_be_bytes()[4..]);
        out.extend_from_slice(field.as_bytes());
    }
    out
}

/// The carrier that was packed; `None` for bytes that this version cannot read.
pub(crate) fn unpack(bytes: &[u8]) -> Option<Carrier> {
    let (&version, mut rest) = bytes.split_first()?;
    if version != VERSION {
        return None;
    }
    let mut field = || {
        let (length, tail) = rest.split_first_chunk::<4>()?;
        let length = u32::from_be_bytes(*length) as usize;
        let text = tail.get(..length)?;
        rest = &tail[length..];
        std::str::from_utf8(text).ok()
    };
    let kind = CarrierKind::parse(field()?)?;
    let dialect = DialectId::parse(field()?)?;
    let (upstream, model, account) = (field()?.into(), field()?.into(), field()?.into());
    let data = field()?.into();
    if !rest.is_empty() {
        return None;
    }
    Some(Carrier { kind, data, origin: Some(Arc::new(Origin { dialect, upstream, model, account })) })
}
