//! The embedded model as one more upstream: items in, events out, no wire between.

mod events;
mod failure;
mod items;
mod prompt;
mod today;
mod tools;

#[cfg(test)]
mod tests;

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use trilith_core::{
    Abilities, Begin, BoxFuture, Clock, DialectId, Disposition, Error, EventStream, Loss, ModelCall, Reads,
    RelayAnswer, RelayCall, TokenCount, Upstream,
};

use crate::{Model, Step};
use events::{Answer, Events};

/// A loaded model behind the port of all upstreams. It takes text only; whatever it cannot do is refused or
/// reported, as with any other upstream.
pub struct Embedded {
    name: Box<str>,
    model: Model,
    clock: Arc<dyn Clock>,
}

impl Embedded {
    /// `name` is the provider's name in configuration; `clock` tells the templates what day it is.
    pub fn new(name: &str, model: Model, clock: Arc<dyn Clock>) -> Self {
        Self { name: name.into(), model, clock }
    }

    /// Counts by preparing the request as for an answer of no tokens, which never comes to the engine.
    async fn count(&self, call: ModelCall) -> Result<Option<TokenCount>, Error> {
        let prompt::Prepared { mut request, losses, .. } =
            prompt::prepare(&call.turn, today::of_unix_ms(self.clock.unix_ms()))?;
        refuse(call.strict, &losses)?;
        request.max_tokens = Some(0);
        let mut generation = self.model.generate(request).map_err(failure::of_request)?;
        match poll_fn(|context| Pin::new(&mut generation).poll_next(context)).await {
            Some(Step::Done { prompt_tokens, .. }) => {
                Ok(Some(TokenCount { tokens: prompt_tokens.into(), losses, headers: Vec::new() }))
            }
            Some(Step::Failed(error)) => Err(failure::of_request(error)),
            Some(_) | None => Err(failure::of_request(crate::GenerateError::Stopped)),
        }
    }

    async fn answer(&self, call: ModelCall) -> Result<EventStream, Error> {
        let prompt::Prepared { request, losses, tools } =
            prompt::prepare(&call.turn, today::of_unix_ms(self.clock.unix_ms()))?;
        refuse(call.strict, &losses)?;
        let mut generation = self.model.generate(request).map_err(failure::of_request)?;
        // Faults of the prompt come as the first step. Until then nothing has been said, and another target
        // may still be asked.
        let first = poll_fn(|context| Pin::new(&mut generation).poll_next(context)).await;
        let first = match first {
            Some(Step::Failed(error)) => return Err(failure::of_request(error)),
            Some(step) => step,
            None => return Err(failure::of_request(crate::GenerateError::Stopped)),
        };
        let answer = Answer::new(tools, call.turn.settings.parallel_tool_calls == Some(false));
        let begin = Begin {
            model: Some(self.model.info().file_stem.as_str().into()),
            // Whichever tier was asked for, this is the one there is.
            service_tier: call.turn.settings.service_tier.as_ref().map(|_| "default".into()),
            ..Begin::default()
        };
        let events = Events::new(generation, answer, begin, first);
        Ok(EventStream { losses, headers: Vec::new(), events: Box::pin(events) })
    }
}

/// In strict mode the first thing dropped or approximated is an error, and the model is not asked.
fn refuse(strict: bool, losses: &[Loss]) -> Result<(), Error> {
    let Some(loss) = losses.iter().find(|loss| strict && loss.disposition == Disposition::Warn) else {
        return Ok(());
    };
    let text = format!("strict mode: '{}' cannot be kept: {}", loss.path, loss.why);
    Err(Error::bad_request(loss.path.clone(), text).with_code("strict_loss"))
}

impl Upstream for Embedded {
    fn name(&self) -> &str {
        &self.name
    }

    fn dialect(&self) -> Option<DialectId> {
        None
    }

    fn account(&self) -> &str {
        ""
    }

    fn abilities(&self, _: &str) -> Abilities {
        // Text only: of a PDF its text can be said.
        let reads = Reads { pdf: false, document_urls: false, ..Reads::ALL };
        Abilities {
            several_answers: false,
            several_prompts: false,
            forced_tool_choice: false,
            json_schema: false,
            reads,
            empty_answers: false,
            truncation: false,
            ..Abilities::ALL
        }
    }

    fn call(&self, call: ModelCall) -> BoxFuture<'_, Result<EventStream, Error>> {
        Box::pin(self.answer(call))
    }

    fn count(&self, call: ModelCall) -> BoxFuture<'_, Result<Option<TokenCount>, Error>> {
        Box::pin(self.count(call))
    }

    fn relay(&self, _: RelayCall) -> BoxFuture<'_, Result<RelayAnswer, Error>> {
        Box::pin(async { Err(Error::internal("the embedded model has no wire to relay to")) })
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<Box<str>>, Error>> {
        let name = self.model.info().file_stem.as_str().into();
        Box::pin(async { Ok(vec![name]) })
    }
}
