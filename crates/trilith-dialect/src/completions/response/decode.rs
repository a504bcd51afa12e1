//! A whole answer as the events its stream would have been.

use trilith_core::{Error, Event};

use super::wire::Answer;
use crate::{completions::stream::Assembler, openai_error, typed};

pub(in crate::completions) fn decode(body: &[u8], out: &mut Vec<Event>) -> Result<(), Error> {
    let Ok(answer) = typed::from_slice::<Answer<'_>>(body) else {
        return Err(openai_error::in_body(body)
            .unwrap_or_else(|| openai_error::nonsense("a body that is no answer of Completions")));
    };
    if answer.error.is_some() || answer.choices.is_none() {
        return Err(
            openai_error::in_body(body).unwrap_or_else(|| openai_error::nonsense("a body without an answer"))
        );
    }
    if answer.choices.as_ref().is_some_and(Vec::is_empty) {
        return Err(openai_error::nonsense("an answer without choices"));
    }
    let mut assembler = Assembler::default();
    assembler.take(answer, out)?;
    assembler.end(out)
}
