//! A whole answer as the events its stream would have been.

use trilith_core::{DialectId, Error, Event, Extra, Json};

use super::wire::Answer;
use crate::{NameMap, chat::stream::Assembler, openai_error};

pub(in crate::chat) fn decode(body: &[u8], names: &NameMap, out: &mut Vec<Event>) -> Result<(), Error> {
    let Ok(answer) = crate::typed::from_slice::<Answer<'_>>(body) else {
        return Err(openai_error::in_body(body)
            .unwrap_or_else(|| openai_error::nonsense("a body that is no answer of Chat Completions")));
    };
    if answer.error.is_some() || answer.choices.is_none() {
        return Err(
            openai_error::in_body(body).unwrap_or_else(|| openai_error::nonsense("a body without an answer"))
        );
    }
    if answer.choices.as_ref().is_some_and(Vec::is_empty) {
        return Err(openai_error::nonsense("an answer without choices"));
    }
    let mut extra = Extra::EMPTY;
    if let Some(moderation) = answer.moderation {
        extra.push(DialectId::Chat, "moderation", Json::from_checked(moderation.get()));
    }
    let mut assembler = Assembler::default();
    assembler.begin_extra(extra);
    assembler.take(answer, names, out)?;
    assembler.end(names, out)
}
