//! A whole answer as the events its stream would have been.

use trilith_core::{Error, Event};

use super::wire::Answer;
use crate::{
    NameMap,
    messages::{error, stream::Assembler},
};

pub(in crate::messages) fn decode(body: &[u8], names: &NameMap, out: &mut Vec<Event>) -> Result<(), Error> {
    let wrong = |what: &str| error::in_body(body).unwrap_or_else(|| error::nonsense(what));
    let Ok(answer) = crate::typed::from_slice::<Answer<'_>>(body) else {
        return Err(wrong("a body that is no answer of Messages"));
    };
    if answer.error.is_some() || answer.content.is_none() {
        return Err(wrong("a body without an answer"));
    }
    Assembler::default().whole(answer, names, out)
}
