//! The ports: what the runtime needs from the world. Adapters implement them, the binary joins the two.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use bytes::Bytes;
use futures_core::Stream;

use crate::{Abilities, DialectId, Error, Event, Hold, Item, Json, Loss, Response, Settings, Turn};

/// A future that owns its work and may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
/// A stream that owns its work and may move between threads.
pub type BoxStream<'a, T> = Pin<Box<dyn Stream<Item = T> + Send + 'a>>;
/// Header names (lower case) and values, in order.
pub type Headers = Vec<(Box<str>, Box<str>)>;

/// One call of a model, in items.
#[derive(Clone, Debug)]
pub struct ModelCall {
    /// The turn with its whole context as input.
    pub turn: Arc<Turn>,
    /// The upstream's name for the model.
    pub model: Box<str>,
    /// Whether the answer is wanted as a stream.
    pub stream: bool,
    /// Whether anything dropped or approximated is an error instead of a report.
    pub strict: bool,
    /// Client headers that the allowlist lets through.
    pub headers: Headers,
}

/// A model's answer.
pub struct EventStream {
    /// What the request could not carry to this upstream.
    pub losses: Vec<Loss>,
    /// Response headers worth passing on (rate limits, request id), names in lower case.
    pub headers: Headers,
    /// The answer's events, one batch for each read from the upstream. Dropping it cancels the call.
    pub events: BoxStream<'static, Result<Vec<Event>, Error>>,
}

/// What a request asks of a model's place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// The model's answer.
    #[default]
    Answer,
    /// How many tokens the request's input is; the model does not run.
    InputTokens,
}

/// How many tokens a request's input is, as the place that would take it counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenCount {
    /// Tokens.
    pub tokens: u64,
    /// What the request could not carry to this upstream.
    pub losses: Vec<Loss>,
    /// Response headers worth passing on, names in lower case.
    pub headers: Headers,
}

/// A request whose bytes pass untouched.
#[derive(Clone, Debug)]
pub struct RelayCall {
    /// The body to send.
    pub body: Bytes,
    /// What the body asks for.
    pub wanted: Wanted,
    /// Whether the caller asked for a stream.
    pub stream: bool,
    /// The upstream's name for the model.
    pub model: Box<str>,
    /// Client headers that the allowlist lets through.
    pub headers: Headers,
}

/// An answer whose bytes pass untouched.
pub struct RelayAnswer {
    /// HTTP status, always a success; failures come as [`Error`].
    pub status: u16,
    /// Headers to pass on, names in lower case.
    pub headers: Headers,
    /// Whether the body is a stream of events.
    pub stream: bool,
    /// The body's bytes as they come. Dropping it cancels the call.
    pub body: BoxStream<'static, Result<Bytes, Error>>,
}

/// A place that speaks a dialect, seen without its wire.
pub trait Upstream: Send + Sync {
    /// The provider's configured name.
    fn name(&self) -> &str;

    /// The dialect it speaks; `None` for one that has no wire at all (the embedded model).
    fn dialect(&self) -> Option<DialectId>;

    /// A fingerprint of the account whose credential is used; never the credential. Empty where there is none.
    fn account(&self) -> &str;

    /// What it does by itself for a model of that (upstream's) name.
    fn abilities(&self, model: &str) -> Abilities;

    /// How a model of that name can be held to the form of the text that these settings ask for.
    fn holds(&self, model: &str, settings: &Settings) -> Hold {
        let _ = settings;
        self.abilities(model).hold()
    }

    /// Calls a model.
    ///
    /// # Errors
    /// What the turn asks for cannot be said in the upstream's dialect, the upstream cannot be reached, or it
    /// answered with an error. Nothing was sent for errors whose origin is the caller.
    fn call(&self, call: ModelCall) -> BoxFuture<'_, Result<EventStream, Error>>;

    /// Sends bytes and hands back bytes.
    ///
    /// # Errors
    /// As for [`Upstream::call`].
    fn relay(&self, call: RelayCall) -> BoxFuture<'_, Result<RelayAnswer, Error>>;

    /// Counts the tokens of a call's input without running the model; `None` where the place cannot say.
    ///
    /// # Errors
    /// As for [`Upstream::call`].
    fn count(&self, call: ModelCall) -> BoxFuture<'_, Result<Option<TokenCount>, Error>> {
        drop(call);
        Box::pin(std::future::ready(Ok(None)))
    }

    /// The models it offers, where that can be asked.
    ///
    /// # Errors
    /// The upstream cannot be reached or does not list models.
    fn models(&self) -> BoxFuture<'_, Result<Vec<Box<str>>, Error>>;
}

/// Holds texts to JSON Schemas.
pub trait Schemas: Send + Sync {
    /// Makes a schema ready to be held to.
    ///
    /// # Errors
    /// Why no text can be held to it; for the caller to read.
    fn ready(&self, schema: &Json) -> Result<Arc<dyn Schema>, Box<str>>;
}

/// A schema that texts are held to.
pub trait Schema: Send + Sync {
    /// Whether the text is JSON that matches.
    ///
    /// # Errors
    /// Why it is not, in a few words with the place; for the caller and for the model to read.
    fn check(&self, text: &str) -> Result<(), Box<str>>;
}

/// What a store may fail with. The text is for the log.
#[derive(Clone, Debug)]
pub struct StoreError(pub Box<str>);

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StoreError {}

/// The context that a new response continues.
#[derive(Clone, Debug, Default)]
pub struct StoredContext {
    /// Every item from the beginning (or the newest compaction) to the end of the parent's output.
    pub items: Vec<Item>,
}

/// Which page of a list is wanted.
#[derive(Clone, Debug)]
pub struct InputPage {
    /// At most this many (1 to 100).
    pub limit: usize,
    /// Oldest first.
    pub ascending: bool,
    /// Only what comes after this item's id.
    pub after: Option<Box<str>>,
}

/// A page of items, each with its id.
#[derive(Clone, Debug, Default)]
pub struct ItemPage {
    /// The items.
    pub items: Vec<Item>,
    /// Whether more follow.
    pub has_more: bool,
}

/// Where responses live. Every call names the tenant; nothing of another tenant is ever visible.
pub trait Store: Send + Sync {
    /// The context of a response that may be continued: `None` if there is no such response, if it is deleted
    /// or if it has not ended.
    ///
    /// # Errors
    /// The storage failed.
    fn context<'a>(
        &'a self,
        tenant: &'a str,
        response: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoredContext>, StoreError>>;

    /// Records a response that begins: its row is visible as in progress, its input is kept. All input items
    /// carry ids.
    ///
    /// # Errors
    /// The storage failed, or the parent vanished meanwhile.
    fn begin<'a>(
        &'a self,
        tenant: &'a str,
        response: Arc<Response>,
        input: Vec<Item>,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Waits until the row of a response that was handed to [`Store::begin`] is written.
    ///
    /// # Errors
    /// It could not be written. The response is forgotten then.
    fn begun<'a>(&'a self, tenant: &'a str, response: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Records a response's end durably; when this returns the response can be continued. One that was deleted
    /// meanwhile stays deleted, which is no error.
    ///
    /// # Errors
    /// The storage failed, or the parent vanished meanwhile. Whoever called tells the end that it shows instead
    /// to [`Store::end_later`].
    fn commit<'a>(
        &'a self,
        tenant: &'a str,
        response: Arc<Response>,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Takes the end of a response whose commit failed: [`Store::get`] gives it at once, and it is written when
    /// the storage works again. Lost if the process ends before that; [`Store::recover`] ends the row then.
    fn end_later(&self, tenant: &str, response: Arc<Response>);

    /// A response by its id.
    ///
    /// # Errors
    /// The storage failed.
    fn get<'a>(
        &'a self,
        tenant: &'a str,
        response: &'a str,
    ) -> BoxFuture<'a, Result<Option<Response>, StoreError>>;

    /// Deletes a response; says whether there was one. Children that exist keep their context.
    ///
    /// # Errors
    /// The storage failed.
    fn delete<'a>(&'a self, tenant: &'a str, response: &'a str) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// A page of the effective input of a response, earlier turns included; `None` if there is no such
    /// response, or if `after` names no item of it.
    ///
    /// # Errors
    /// The storage failed.
    fn input_items<'a>(
        &'a self,
        tenant: &'a str,
        response: &'a str,
        page: InputPage,
    ) -> BoxFuture<'a, Result<Option<ItemPage>, StoreError>>;

    /// Items by their ids, in the order of `ids`, from whatever the tenant has stored; of several with one id the
    /// newest. `None` for an id of which nothing is stored, or only what was deleted.
    ///
    /// # Errors
    /// The storage failed.
    fn items<'a>(
        &'a self,
        tenant: &'a str,
        ids: Vec<Box<str>>,
    ) -> BoxFuture<'a, Result<Vec<Option<Item>>, StoreError>>;

    /// Whether something can be written now (unix seconds). Cheap enough for every request: a write that
    /// succeeded a moment ago is proof enough, otherwise something small is written.
    ///
    /// # Errors
    /// The storage failed.
    fn check(&self, now: i64) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Ends what an earlier process left in progress; gives how many. Called once, before serving.
    ///
    /// # Errors
    /// The storage failed.
    fn recover(&self, now: i64) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// Waits until everything handed over is on disk.
    fn flush(&self) -> BoxFuture<'_, Result<(), StoreError>>;
}

/// Seals what leaves Trilith's hands and must come back unread and unchanged.
pub trait Sealer: Send + Sync {
    /// An envelope (`tl1.…`) that only the same tenant can bring back for the same purpose.
    ///
    /// # Errors
    /// No randomness could be had.
    fn seal(&self, tenant: &str, purpose: &str, secret: &[u8]) -> Result<String, Error>;

    /// What an envelope holds.
    ///
    /// # Errors
    /// It is forged, truncated, of another tenant or of another purpose; all look alike.
    fn open(&self, tenant: &str, purpose: &str, envelope: &str) -> Result<Vec<u8>, Error>;
}

/// The time.
pub trait Clock: Send + Sync {
    /// Milliseconds since the Unix epoch.
    fn unix_ms(&self) -> u64;

    /// Microseconds of a clock that never goes back, from an arbitrary start.
    fn monotonic_us(&self) -> u64;
}

/// Randomness for ids.
pub trait Ids: Send + Sync {
    /// Ten random bytes.
    fn random(&self) -> [u8; 10];
}

/// Starts tasks, names them and waits for them when the process ends.
pub trait Spawn: Send + Sync {
    /// Runs a task to its end, even if whoever started it is gone.
    fn spawn(&self, name: &'static str, task: BoxFuture<'static, ()>);
}
