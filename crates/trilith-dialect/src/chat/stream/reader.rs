//! Reads an upstream's stream.

use trilith_core::{Error, Event};

use super::{Assembler, usual::Usual};
use crate::{NameMap, chat::response, chunks::Chunks, openai_error, typed};

/// What the chunks of a stream come to.
pub(in crate::chat) struct ChatChunks {
    names: NameMap,
    assembler: Assembler,
    usual: Usual,
}

impl ChatChunks {
    pub(in crate::chat) fn new(names: NameMap) -> Self {
        Self { names, assembler: Assembler::default(), usual: Usual::default() }
    }
}

impl Chunks for ChatChunks {
    fn chunk(&mut self, data: &str, out: &mut Vec<Event>) -> Result<(), Error> {
        let Self { names, assembler, usual } = self;
        if let Some(choice) = usual.read(data) {
            return assembler.choice(choice, names, out);
        }
        let body = data.as_bytes();
        match typed::from_str::<response::wire::Answer<'_>>(data) {
            Ok(answer) if answer.error.is_none() && answer.choices.is_some() => {
                assembler.take(answer, names, out)?;
            }
            Ok(answer) if answer.error.is_none() => match openai_error::in_body(body) {
                Some(error) if answer.usage.is_none() => return Err(error),
                // Notices of other kinds, and usage without a list of choices.
                _ => assembler.take(answer, names, out)?,
            },
            _ => {
                return Err(openai_error::in_body(body).unwrap_or_else(|| {
                    openai_error::nonsense("an event that is no chunk of Chat Completions")
                }));
            }
        }
        usual.learn(data);
        Ok(())
    }

    fn whole(&mut self, body: &[u8], out: &mut Vec<Event>) -> Result<(), Error> {
        response::decode(body, &self.names, out)
    }

    fn end(&mut self, out: &mut Vec<Event>) -> Result<(), Error> {
        self.assembler.end(&self.names, out)
    }
}
