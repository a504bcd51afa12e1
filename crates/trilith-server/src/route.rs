//! Which handler takes a request. Each API has its file below `api/`.

use std::sync::Arc;

use http::{HeaderName, HeaderValue, Method, Request, Response, Version, header};
use hyper::body::{Body, Incoming};
use trilith_core::{
    DialectId, Error, ErrorKind, ErrorOrigin, ResponseId,
    Wanted::{self, Answer as ModelAnswer, InputTokens},
};

use crate::{
    answer::{self, Answer},
    api,
    app::App,
    body, percent,
};

static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The name by which Anthropic's SDKs look for it.
static MESSAGES_REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
/// The only sure sign of a Messages client on paths that several dialects share (its SDKs always send it).
static VERSION: HeaderName = HeaderName::from_static("anthropic-version");

/// A request with its id.
pub(crate) struct Asked {
    pub(crate) app: Arc<App>,
    pub(crate) head: http::request::Parts,
    pub(crate) request_id: Arc<str>,
}

/// Answers one request; every answer carries the request's id.
pub(crate) async fn answer(app: Arc<App>, request: Request<Incoming>) -> Response<Answer> {
    let id = ResponseId::mint(app.runtime.clock.unix_ms(), app.runtime.ids.random());
    let request_id: Arc<str> = ["req_", id.as_str()].concat().into();
    let header = HeaderValue::try_from(&*request_id);
    let (head, mut body) = request.into_parts();
    let closes = head.version < Version::HTTP_2;
    // Reading would ask for a body that was refused by its head alone.
    let waits = head.headers.contains_key(header::EXPECT);
    let segments = segments(head.uri.path());
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let messages = speaks_messages(&head, &segments);
    let mut answer = dispatch(Asked { app, head, request_id }, &mut body, &segments).await;
    // With unread bytes in its way the next request of the connection could not be read. What was answered with
    // success was read to its end, which a body in chunks does not tell.
    let unread = waits && !answer.status().is_success() && !body.is_end_stream();
    if (unread || !body::discard(&mut body).await) && closes {
        answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if let Ok(header) = header {
        if messages {
            answer.headers_mut().insert(MESSAGES_REQUEST_ID.clone(), header.clone());
        }
        answer.headers_mut().insert(REQUEST_ID.clone(), header);
    }
    answer
}

/// The segments of a path. A base address with a slash at its end is a common slip.
fn segments(path: &str) -> Vec<String> {
    let path = path.strip_suffix('/').unwrap_or(path);
    path.trim_start_matches('/').split('/').map(plain).collect()
}

/// Whether the client speaks Messages, as far as its path and headers tell.
fn speaks_messages(head: &http::request::Parts, segments: &[&str]) -> bool {
    head.headers.contains_key(&VERSION) || segments.starts_with(&["v1", "messages"])
}

async fn dispatch(asked: Asked, body: &mut Incoming, segments: &[&str]) -> Response<Answer> {
    let method = asked.head.method.clone();
    let request_id = Arc::clone(&asked.request_id);
    let messages = speaks_messages(&asked.head, segments);
    let shared = if messages { DialectId::Messages } else { DialectId::Chat };
    let (client, result) = match (&method, segments) {
        (&Method::POST, ["v1", "chat", "completions"]) => {
            ask(asked, body, DialectId::Chat, ModelAnswer).await
        }
        (&Method::POST, ["v1", "completions"]) => ask(asked, body, DialectId::Completions, ModelAnswer).await,
        (&Method::POST, ["v1", "responses"]) => ask(asked, body, DialectId::Responses, ModelAnswer).await,
        (&Method::POST, ["v1", "messages"]) => ask(asked, body, DialectId::Messages, ModelAnswer).await,
        (&Method::POST, ["v1", "messages", "count_tokens"]) => {
            ask(asked, body, DialectId::Messages, InputTokens).await
        }
        (&Method::GET, ["v1", "responses"]) if asked.head.headers.contains_key(header::UPGRADE) => {
            (DialectId::Responses, Err(no_socket()))
        }
        (&Method::GET, ["v1", "responses", id]) => {
            (DialectId::Responses, api::responses::get(asked, id).await)
        }
        (&Method::DELETE, ["v1", "responses", id]) => {
            (DialectId::Responses, api::responses::delete(asked, id).await)
        }
        (&Method::POST, ["v1", "responses", id, "cancel"]) => {
            (DialectId::Responses, api::responses::cancel(asked, id).await)
        }
        (&Method::GET, ["v1", "responses", id, "input_items"]) => {
            (DialectId::Responses, api::responses::input_items(asked, id).await)
        }
        (&Method::GET, ["v1", "models"]) => (shared, api::models::list(&asked, shared).await),
        (&Method::GET, ["v1", "models", rest @ ..]) => {
            (shared, api::models::get(&asked, &rest.join("/"), shared))
        }
        (&Method::GET, ["trilith", "requests", id, "losses"]) => {
            (DialectId::Chat, api::losses::get(&asked, id))
        }
        (&Method::GET, ["health" | "ready"]) => return api::health::ok(),
        (_, segments) => return not_served(segments, shared, &request_id),
    };
    result.unwrap_or_else(|error| answer::error(&error, client, &request_id))
}

/// A request to a model, on the heap: most requests to other paths need far less room.
async fn ask(asked: Asked, body: &mut Incoming, client: DialectId, wanted: Wanted) -> (DialectId, Handled) {
    (client, Box::pin(api::model_call::answer(asked, body, client, wanted)).await)
}

/// A segment of a path with its percent signs undone, where that is text.
fn plain(segment: &str) -> String {
    percent::decode(segment, false).unwrap_or_else(|| segment.to_owned())
}

/// What a handler gives back.
pub(crate) type Handled = Result<Response<Answer>, Error>;

/// Clients that would rather have a WebSocket fall back to HTTP at once on this status; other statuses make
/// them try for seconds (Codex).
fn no_socket() -> Error {
    Error::new(
        ErrorKind::UpgradeRequired,
        ErrorOrigin::Caller,
        "responses are not served over a WebSocket here; send POST /v1/responses",
    )
}

/// A path that is not served at all, or not by this method.
fn not_served(segments: &[&str], client: DialectId, request_id: &str) -> Response<Answer> {
    let Some(methods) = methods(segments) else {
        let error = Error::new(
            ErrorKind::NotFound,
            ErrorOrigin::Caller,
            "no such path; Trilith serves /v1/responses, /v1/chat/completions, /v1/messages, /v1/completions and \
             /v1/models",
        );
        return answer::error(&error, client, request_id);
    };
    let text = format!("this path does not take this method; send {methods}");
    let error = Error::new(ErrorKind::MethodNotAllowed, ErrorOrigin::Caller, text);
    let mut answer = answer::error(&error, client, request_id);
    answer.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
    answer
}

/// The methods of a path that is served. What has no response's id behind `/v1/responses/` is no response, but
/// an operation of the wire that is not served here.
fn methods(segments: &[&str]) -> Option<&'static str> {
    match segments {
        ["v1", "chat", "completions"]
        | ["v1", "responses" | "messages" | "completions"]
        | ["v1", "messages", "count_tokens"] => Some("POST"),
        ["v1", "responses", id] if id.starts_with("resp_") => Some("GET, DELETE"),
        ["v1", "responses", id, "cancel"] if id.starts_with("resp_") => Some("POST"),
        ["v1", "responses", id, "input_items"] if id.starts_with("resp_") => Some("GET"),
        ["v1", "models", ..] | ["trilith", "requests", _, "losses"] | ["health" | "ready"] => Some("GET"),
        _ => None,
    }
}
