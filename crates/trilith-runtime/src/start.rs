//! From a decoded turn to a running response.

use std::sync::Arc;

use bytes::Bytes;
use trilith_core::{
    Clock, Created, DialectId, DocumentText, Error, ErrorKind, ErrorOrigin, Fetch, Headers, Ids, Loss, Pin,
    RelayAnswer, RelayCall, Response, ResponseId, Schemas, Sealer, Shows, Spawn, Store, StoreError, Turn,
    Wanted,
};

use crate::{
    ask::{Asked, Call},
    carriers::{self, Places},
    emulate::Terms,
    end,
    failover::{Candidate, Failover, Tries},
    history,
    locality::LocalTools,
    normalize::TakenIds,
    run::{Parts, Run},
};

/// What every run needs.
#[derive(Clone)]
pub struct Runtime {
    /// Where responses are kept.
    pub store: Arc<dyn Store>,
    /// Seals reasoning on its way through clients.
    pub sealer: Arc<dyn Sealer>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness for ids.
    pub ids: Arc<dyn Ids>,
    /// Starts the task that ends a run whose client left.
    pub spawn: Arc<dyn Spawn>,
    /// Holds texts to JSON Schemas.
    pub schemas: Arc<dyn Schemas>,
    /// Takes text out of documents, where this process can.
    pub documents: Option<Arc<dyn DocumentText>>,
    /// Fetches addresses, where the operator allows it.
    pub fetch: Option<Arc<dyn Fetch>>,
    /// Which tools' results may go to local targets only.
    pub local_tools: Arc<LocalTools>,
    /// The most answers to one request that are asked for by calls of their own, where the upstream gives one to a
    /// call.
    pub max_choices: u16,
    /// The largest answer that is gathered, in bytes of what is kept of it.
    pub max_answer_bytes: usize,
}

/// A turn, ready to run.
pub struct Request {
    /// Whose it is.
    pub tenant: Arc<str>,
    /// The client's dialect.
    pub client: DialectId,
    /// What the client can be shown.
    pub shows: Shows,
    /// The turn as decoded; its input is what this request brought.
    pub turn: Turn,
    /// Who may serve it, best first.
    pub candidates: Vec<Candidate>,
    /// The rule that holds the whole request to local targets: its key's or its model's.
    pub pin: Option<Arc<Pin>>,
    /// Whether a loss is an error.
    pub strict: bool,
    /// Whether the caller agreed that a forced tool choice is left to a model that cannot be forced.
    pub forced_choice_may_go: bool,
    /// Client headers that may go upstream.
    pub headers: Headers,
}

impl Runtime {
    /// Calls a model and hands back the run that its answer feeds.
    ///
    /// # Errors
    /// The turn asks for something that is not served, its parent is unknown, what it holds may go to local targets
    /// only and there is none, or no candidate answered.
    /// Nothing is stored then.
    pub async fn start(&self, request: Request, failover: &mut dyn Failover) -> Result<Run, Error> {
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
        let keep = check_state(client, &mut turn)?;
        let streamed = turn.stream.stream;
        let history = history::load(&*self.store, &tenant, &turn).await?;
        let input = history::resolve_references(&*self.store, &tenant, &history, &mut turn.input).await?;
        let unix_ms = self.clock.unix_ms();
        let id = ResponseId::mint(unix_ms, self.ids.random()).response();
        history::name_inputs(&id, &mut turn.input);

        let mut context = history;
        let places = Places { client, history: context.len(), input };
        context.append(&mut turn.input);
        let pin = self.confine(pin, &mut context, &places, &turn.settings.model, &candidates, failover)?;
        let kept_input = if keep { context[places.history..].to_vec() } else { Vec::new() };
        carriers::open(&mut context, &*self.sealer, &tenant, &places)?;
        let input_bytes = end::input_bytes(&turn.settings, &context)
            + turn.completion.as_ref().map_or(0, end::more_prompt_bytes);
        let taken = TakenIds::of(&context);

        let created = created(id, unix_ms, keep, &turn);
        let mut losses = std::mem::take(&mut turn.losses);
        refuse_losses(strict, &losses)?;
        if keep {
            // An answer that could not be kept would be paid for in vain.
            self.store.check(created.created_at).await.map_err(unstorable)?;
        }
        let terms = Terms { shows, forced_choice_may_go, max_choices: self.max_choices };
        let (media, lent) = (self.media(), self.into());
        let call = Call { turn, context, places, media, strict, headers, input_bytes, lent, terms };
        let Asked { answer, place, origin, losses: carried, input_bytes } =
            call.ask(&candidates, failover, |prepared| Box::pin(prepared.answer())).await?;
        failover.answered(place);
        losses.extend(carried);
        losses.extend(answer.losses);

        let response = Response::new(&created);
        let begun = keep.then(|| Arc::new(response.clone()));
        // It is there before its row, so that a caller who leaves meanwhile leaves no row behind as running.
        let mut run = Run::new(Parts {
            runtime: self.clone(),
            tenant: Arc::clone(&tenant),
            origin,
            created,
            response,
            events: answer.events,
            losses,
            headers: answer.headers,
            taken,
            pin,
            input_bytes,
            strict,
        });
        if let Some(response) = begun {
            let id = response.id.clone();
            let mut begun = self.store.begin(&tenant, response, kept_input).await;
            // Whoever read the first event may ask for the response after a crash, so its row comes first. A
            // whole answer shows nothing before its end, which has a commit of its own.
            if begun.is_ok() && streamed {
                begun = self.store.begun(&tenant, &id).await;
            }
            begun.map_err(|error| {
                run.forget();
                unstorable(error)
            })?;
        }
        Ok(run)
    }
}

fn created(id: Box<str>, unix_ms: u64, store: bool, turn: &Turn) -> Created {
    Created {
        id,
        created_at: i64::try_from(unix_ms / 1000).unwrap_or(i64::MAX),
        settings: Arc::clone(&turn.settings),
        store,
        background: false,
        previous_response_id: turn.state.previous_response_id.clone(),
        conversation: turn.state.conversation.clone(),
    }
}

fn unstorable(error: StoreError) -> Error {
    let text = "responses cannot be stored at the moment; try again later, or send 'store': false";
    Error::new(ErrorKind::Overloaded, ErrorOrigin::Trilith, text).with_source(error)
}

/// Sends a request's bytes to the first candidate that takes them; `body` makes the bytes for a candidate.
/// `wanted` and `stream` say what is asked for.
///
/// # Errors
/// No candidate answered.
pub async fn relay(
    candidates: &[Candidate],
    wanted: Wanted,
    stream: bool,
    headers: &Headers,
    failover: &mut dyn Failover,
    body: &(dyn Fn(&Candidate) -> Bytes + Sync),
) -> Result<(RelayAnswer, usize), Error> {
    let mut tries = Tries::new(failover)?;
    loop {
        let (place, candidate) = tries.candidate(candidates)?;
        let call = RelayCall {
            body: body(candidate),
            wanted,
            stream,
            model: candidate.model.clone(),
            headers: headers.clone(),
        };
        match candidate.upstream.relay(call).await {
            Ok(answer) => {
                tries.answered();
                return Ok((answer, place));
            }
            Err(error) => tries.failed(error).await?,
        }
    }
}

/// Whether the response is to be kept; refuses what this version does not serve.
fn check_state(client: DialectId, turn: &mut Turn) -> Result<bool, Error> {
    let unsupported = |param: &'static str, text: &'static str| {
        Err(Error::bad_request(param, text).with_code("unsupported_parameter"))
    };
    if turn.state.background {
        return unsupported("background", "background responses are not served; send 'background': false");
    }
    if turn.state.conversation.is_some() {
        return unsupported(
            "conversation",
            "conversations are not served; continue with 'previous_response_id' instead",
        );
    }
    if client != DialectId::Responses {
        if turn.state.store == Some(true) {
            turn.losses.push(Loss::warn("store", "stored completions are not served; nothing was kept"));
        }
        return Ok(false);
    }
    Ok(turn.state.store.unwrap_or(true))
}

/// In strict mode the first thing dropped or approximated is an error.
pub(crate) fn refuse_losses(strict: bool, losses: &[Loss]) -> Result<(), Error> {
    let warned = losses.iter().find(|loss| loss.disposition == trilith_core::Disposition::Warn);
    match warned {
        Some(loss) if strict => Err(Error::bad_request(
            loss.path.clone(),
            format!("strict mode: '{}' cannot be kept: {}", loss.path, loss.why),
        )
        .with_code("strict_loss")),
        _ => Ok(()),
    }
}
