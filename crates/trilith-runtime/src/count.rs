//! How many tokens a request's input is, without an answer of the model's.

use std::sync::Arc;

use trilith_core::{Error, Headers, Loss, Pin, TokenCount};

use crate::{
    ask::{Asked, Call},
    carriers::{self, Places},
    emulate::Terms,
    end,
    failover::Failover,
    start::{Request, Runtime, refuse_losses},
};

/// A count, and who counted.
pub struct Counted {
    /// Tokens.
    pub tokens: u64,
    /// The place among the request's candidates of the one that counted; `None` for a guess.
    pub place: Option<usize>,
    /// The rule by which only local targets were asked.
    pub pin: Option<Arc<Pin>>,
    /// What the request could not carry, and whether the number is a guess.
    pub losses: Vec<Loss>,
    /// The upstream's headers worth passing on.
    pub headers: Headers,
}

impl Runtime {
    /// Asks the first candidate that answers how many tokens the turn is. Where it has no way to say, the number is
    /// guessed from the text as it is for upstreams that give no usage, and that is told as a loss.
    ///
    /// # Errors
    /// What the turn holds cannot be read or sent, or no candidate answered.
    pub async fn count(&self, request: Request, failover: &mut dyn Failover) -> Result<Counted, Error> {
        let Request {
            tenant,
            client,
            shows,
            mut turn,
            candidates,
            pin,
            strict,
            forced_choice_may_go,
            headers,
        } = request;
        let mut context = std::mem::take(&mut turn.input);
        let places = Places { client, history: 0, input: None };
        let pin = self.confine(pin, &mut context, &places, &turn.settings.model, &candidates, failover)?;
        carriers::open(&mut context, &*self.sealer, &tenant, &places)?;
        let input_bytes = end::input_bytes(&turn.settings, &context);
        let mut losses = std::mem::take(&mut turn.losses);
        refuse_losses(strict, &losses)?;
        let terms = Terms { shows, forced_choice_may_go, max_choices: self.max_choices };
        let (media, lent) = (self.media(), self.into());
        let call = Call { turn, context, places, media, strict, headers, input_bytes, lent, terms };
        let Asked { answer, place, losses: carried, .. } =
            call.ask(&candidates, failover, |prepared| prepared.count()).await?;
        losses.extend(carried);
        if let Some(TokenCount { tokens, losses: encoded, headers }) = answer {
            failover.answered(place);
            losses.extend(encoded);
            return Ok(Counted { tokens, place: Some(place), pin, losses, headers });
        }
        losses
            .push(Loss::warn("input_tokens", "the upstream counts no tokens; estimated from the text alone"));
        refuse_losses(strict, &losses)?;
        Ok(Counted { tokens: end::tokens(input_bytes), place: None, pin, losses, headers: Headers::new() })
    }
}
