//! Reads an upstream's stream.

use trilith_core::{Error, Event};

use super::{Assembler, usual::Usual};
use crate::{chunks::Chunks, completions::response, openai_error, typed};

/// What the chunks of a stream come to.
#[derive(Default)]
pub(in crate::completions) struct CompletionChunks {
    assembler: Assembler,
    usual: Usual,
}

impl Chunks for CompletionChunks {
    fn chunk(&mut self, data: &str, out: &mut Vec<Event>) -> Result<(), Error> {
        if let Some(choice) = self.usual.read(data) {
            return self.assembler.choice(choice, out);
        }
        let in_body = || openai_error::in_body(data.as_bytes());
        match typed::from_str::<response::wire::Answer<'_>>(data) {
            Ok(answer) if answer.error.is_none() => {
                // Notices of other kinds, and usage without a list of choices, are no errors.
                if answer.choices.is_none()
                    && answer.usage.is_none()
                    && let Some(error) = in_body()
                {
                    return Err(error);
                }
                self.assembler.take(answer, out)?;
            }
            _ => {
                return Err(in_body()
                    .unwrap_or_else(|| openai_error::nonsense("an event that is no chunk of Completions")));
            }
        }
        self.usual.learn(data);
        Ok(())
    }

    fn whole(&mut self, body: &[u8], out: &mut Vec<Event>) -> Result<(), Error> {
        response::decode(body, out)
    }

    fn end(&mut self, out: &mut Vec<Event>) -> Result<(), Error> {
        self.assembler.end(out)
    }
}
