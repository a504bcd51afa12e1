//! A place: an address, a credential and the dialect that is spoken there.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use sha2::{Digest, Sha256};
use trilith_core::{
    Abilities, BoxFuture, DialectId, Disposition, Error, EventStream, Hold, Loss, ModelCall, RelayAnswer,
    RelayCall, TokenCount, Upstream, Wanted,
};
use trilith_dialect::{CapabilityTable, Counting, Dialect, Quirks, Target};
use trilith_net::{Client, Request, Response, Timeouts};

use crate::{
    answer::{Events, Relayed, Whole},
    failure, headers,
};

/// What a place is made of.
pub struct Settings {
    /// The provider's configured name.
    pub name: String,
    /// The dialect it speaks.
    pub dialect: &'static dyn Dialect,
    /// Base address without a slash at its end.
    pub base_url: String,
    /// The path below it, where it is not the dialect's own.
    pub path: Option<String>,
    /// The path of the model list; `/models` unless given.
    pub models_path: Option<String>,
    /// The credential.
    pub api_key: Option<String>,
    /// Further headers for every request, organisation and project among them.
    pub headers: Vec<(String, String)>,
    /// Where the place differs from its dialect.
    pub quirks: Quirks,
    /// What its models can be asked for.
    pub capabilities: Arc<CapabilityTable>,
    /// How long it may take.
    pub timeouts: Timeouts,
    /// The largest answer that is read whole, in bytes.
    pub max_answer_bytes: usize,
}

/// Why a place cannot be used. The text names the provider and the key, never a value.
#[derive(Debug, PartialEq, Eq)]
pub struct PlaceError(pub String);

impl fmt::Display for PlaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PlaceError {}

/// A place that speaks a dialect over HTTP.
#[derive(Clone)]
pub struct Place(Arc<Inner>);

struct Inner {
    name: String,
    dialect: &'static dyn Dialect,
    uri: Uri,
    /// Where input tokens are counted, and how, for dialects that can.
    counting: Option<(&'static dyn Counting, Uri)>,
    models_uri: Uri,
    headers: HeaderMap,
    /// The credential itself, to keep it out of what the place says about it.
    api_key: Option<Arc<str>>,
    account: String,
    quirks: Quirks,
    capabilities: Arc<CapabilityTable>,
    timeouts: Timeouts,
    max_answer_bytes: usize,
    client: Client,
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").field("name", &self.0.name).finish_non_exhaustive()
    }
}

impl Place {
    /// A place reached through `client`.
    ///
    /// # Errors
    /// The address is no URL, or a header or the key cannot be sent.
    pub fn new(settings: Settings, client: Client) -> Result<Self, PlaceError> {
        let Settings { name, dialect, base_url, path, models_path, api_key, .. } = settings;
        let uri = |path: &str| {
            let uri = format!("{base_url}{path}").parse::<Uri>().ok().filter(is_address);
            uri.ok_or_else(|| PlaceError(format!("provider '{name}': base_url and path make no address")))
        };
        let mut all = HeaderMap::new();
        all.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (key, value) in dialect.standing_headers() {
            all.insert(HeaderName::from_static(key), HeaderValue::from_static(value));
        }
        for (key, value) in &settings.headers {
            let key = HeaderName::try_from(key.as_str());
            let value = HeaderValue::try_from(value.as_str());
            let (Ok(key), Ok(value)) = (key, value) else {
                return Err(PlaceError(format!("provider '{name}': a header cannot be sent as it stands")));
            };
            all.insert(key, value);
        }
        let path = path.as_deref().unwrap_or_else(|| dialect.path());
        let counting = match dialect.counting() {
            Some(counting) => Some((counting, uri(&format!("{path}{}", counting.path()))?)),
            None => None,
        };
        let account = api_key.as_deref().map(fingerprint).unwrap_or_default();
        if let Some(key) = &api_key {
            let (field, value) = dialect.credential(key);
            let mut value = HeaderValue::try_from(value)
                .map_err(|_| PlaceError(format!("provider '{name}': api_key holds what no header can")))?;
            value.set_sensitive(true);
            all.insert(HeaderName::from_static(field), value);
        }
        Ok(Self(Arc::new(Inner {
            uri: uri(path)?,
            counting,
            models_uri: uri(models_path.as_deref().unwrap_or("/models"))?,
            headers: all,
            api_key: api_key.map(Into::into),
            account,
            dialect,
            quirks: settings.quirks,
            capabilities: settings.capabilities,
            timeouts: settings.timeouts,
            max_answer_bytes: settings.max_answer_bytes,
            client,
            name,
        })))
    }
}

/// Whether a request can go there: `http` or `https`, a host, no user.
fn is_address(uri: &Uri) -> bool {
    let user = |authority: &http::uri::Authority| authority.as_str().contains('@');
    matches!(uri.scheme_str(), Some("http" | "https")) && uri.authority().is_some_and(|host| !user(host))
}

/// Tells accounts apart without telling the key.
fn fingerprint(key: &str) -> String {
    let digest = Sha256::new().chain_update("trilith account\0").chain_update(key).finalize();
    digest[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Inner {
    /// Sends a body; gives the answer if its status promises success.
    async fn post(
        &self,
        uri: &Uri,
        body: Bytes,
        stream: bool,
        client: &trilith_core::Headers,
    ) -> Result<Response, Error> {
        let mut all = self.headers.clone();
        headers::add(&mut all, client, self.dialect.standing_headers());
        if stream {
            all.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        }
        let mut request = Request::new(Method::POST, uri.clone(), all, body);
        request.timeouts = self.timeouts;
        let answer = self.client.send(request).await.map_err(failure::of_exchange)?;
        if answer.status().is_success() { Ok(answer) } else { Err(self.failed(answer).await) }
    }

    async fn failed(&self, answer: Response) -> Error {
        let (head, body) = answer.into_parts();
        let status = head.status.as_u16();
        // A body that cannot be read leaves the status to speak.
        let body = body.collect(failure::LONGEST_ERROR).await.unwrap_or_default();
        if status < 400 {
            return Error::upstream("the upstream sent the request elsewhere, which is not followed");
        }
        let mut error = failure::of_answer(self.dialect, status, &head.headers, &body);
        error.headers = Some(headers::answer(&head.headers)).filter(|all| !all.is_empty()).map(Arc::new);
        failure::without(error, self.api_key.as_deref())
    }

    async fn call(&self, call: ModelCall) -> Result<EventStream, Error> {
        let can = self.capabilities.of(&call.model);
        let target = Target { model: &call.model, stream: call.stream, quirks: &self.quirks, can: &can };
        let encoded = self.dialect.encode_request(&call.turn, &target)?;
        refuse(call.strict, &encoded.losses)?;
        let answer = self.post(&self.uri, encoded.body.into(), call.stream, &call.headers).await?;
        let (head, body) = answer.into_parts();
        let passed = headers::answer(&head.headers);
        let losses = encoded.losses;
        if is_stream(&head.headers, call.stream) {
            let events = Events::new(body, self.dialect.reader(encoded.names), self.api_key.clone());
            return Ok(EventStream { losses, headers: passed, events: Box::pin(events) });
        }
        let bytes = body.collect(self.max_answer_bytes).await.map_err(failure::of_exchange)?;
        let mut events = Vec::new();
        self.dialect
            .decode_response(&bytes, &encoded.names, &mut events)
            .map_err(|error| failure::without(error, self.api_key.as_deref()))?;
        Ok(EventStream { losses, headers: passed, events: Box::pin(Whole(Some(events))) })
    }

    /// Asks how long the input is. Servers that are shaped after a dialect do not always serve the question.
    async fn count(&self, call: ModelCall) -> Result<Option<TokenCount>, Error> {
        let Some((counting, uri)) = &self.counting else { return Ok(None) };
        let can = self.capabilities.of(&call.model);
        let target = Target { model: &call.model, stream: false, quirks: &self.quirks, can: &can };
        let encoded = counting.encode_request(&call.turn, &target)?;
        refuse(call.strict, &encoded.losses)?;
        let answer = match self.post(uri, encoded.body.into(), false, &call.headers).await {
            Err(error) if error.is_no_such_path() => return Ok(None),
            answer => answer?,
        };
        let (head, body) = answer.into_parts();
        let bytes = body.collect(self.max_answer_bytes).await.map_err(failure::of_exchange)?;
        let tokens = counting
            .decode_answer(&bytes)
            .map_err(|error| failure::without(error, self.api_key.as_deref()))?;
        Ok(Some(TokenCount { tokens, losses: encoded.losses, headers: headers::answer(&head.headers) }))
    }

    async fn relay(&self, call: RelayCall) -> Result<RelayAnswer, Error> {
        let uri = match (call.wanted, &self.counting) {
            (Wanted::Answer, _) => &self.uri,
            (Wanted::InputTokens, Some((_, uri))) => uri,
            (Wanted::InputTokens, None) => return Err(Error::internal("this place counts no tokens")),
        };
        let answer = self.post(uri, call.body, call.stream, &call.headers).await?;
        let (head, body) = answer.into_parts();
        Ok(RelayAnswer {
            status: head.status.as_u16(),
            headers: headers::answer(&head.headers),
            stream: is_stream(&head.headers, call.stream),
            body: Box::pin(Relayed(body)),
        })
    }

    async fn models(&self) -> Result<Vec<Box<str>>, Error> {
        #[derive(serde::Deserialize)]
        struct List {
            data: Vec<Entry>,
        }
        #[derive(serde::Deserialize)]
        struct Entry {
            id: Box<str>,
        }
        let mut request =
            Request::new(Method::GET, self.models_uri.clone(), self.headers.clone(), Bytes::new());
        request.timeouts = self.timeouts;
        let answer = self.client.send(request).await.map_err(failure::of_exchange)?;
        if !answer.status().is_success() {
            return Err(self.failed(answer).await);
        }
        let body = answer.into_body().collect(self.max_answer_bytes).await.map_err(failure::of_exchange)?;
        let list: List = serde_json::from_slice(&body).map_err(|error| {
            Error::upstream("the upstream's model list cannot be read").with_source(error)
        })?;
        Ok(list.data.into_iter().map(|entry| entry.id).collect())
    }
}

/// Whether an answer is a stream of events. Some servers ignore the wish for one and answer whole, some can
/// only stream: their own word counts, and the wish where they say nothing that is known.
fn is_stream(headers: &HeaderMap, asked: bool) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = value.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("text/event-stream") {
        true
    } else {
        asked && !kind.eq_ignore_ascii_case("application/json")
    }
}

/// In strict mode the first thing dropped or approximated is an error, and nothing is sent.
fn refuse(strict: bool, losses: &[Loss]) -> Result<(), Error> {
    let Some(loss) = losses.iter().find(|loss| strict && loss.disposition == Disposition::Warn) else {
        return Ok(());
    };
    let text = format!("strict mode: '{}' cannot be kept: {}", loss.path, loss.why);
    Err(Error::bad_request(loss.path.clone(), text).with_code("strict_loss"))
}

impl Upstream for Place {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn dialect(&self) -> Option<DialectId> {
        Some(self.0.dialect.id())
    }

    fn account(&self) -> &str {
        &self.0.account
    }

    fn abilities(&self, model: &str) -> Abilities {
        self.0.dialect.abilities(&self.0.quirks, &self.0.capabilities.of(model))
    }

    fn holds(&self, model: &str, settings: &trilith_core::Settings) -> Hold {
        self.0.dialect.holds(&self.0.quirks, &self.0.capabilities.of(model), settings)
    }

    fn call(&self, call: ModelCall) -> BoxFuture<'_, Result<EventStream, Error>> {
        Box::pin(self.0.call(call))
    }

    fn relay(&self, call: RelayCall) -> BoxFuture<'_, Result<RelayAnswer, Error>> {
        Box::pin(self.0.relay(call))
    }

    fn count(&self, call: ModelCall) -> BoxFuture<'_, Result<Option<TokenCount>, Error>> {
        Box::pin(self.0.count(call))
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<Box<str>>, Error>> {
        Box::pin(self.0.models())
    }
}
