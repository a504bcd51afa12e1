//! Which handler takes a request. Each API has its file below `api/`.

use std::sync::Arc;

use http::{HeaderName, HeaderValue, Method, Request, Response, Version, header};
use hyper::body::Incoming;
use trilith_core::{DialectId, Error, ErrorKind, ErrorOrigin, ResponseId};

use crate::{
    answer::{self, Answer},
    api,
    app::App,
    body,
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
    let messages = head.uri.path().starts_with("/v1/messages") || head.headers.contains_key(&VERSION);
    let mut answer = dispatch(Asked { app, head, request_id }, &mut body).await;
    // With unread bytes in its way the next request of the connection could not be read.
    if !body::discard(&mut body).await && closes {
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

async fn dispatch(asked: Asked, body: &mut Incoming) -> Response<Answer> {
    let path = asked.head.uri.path();
    // A base address with a slash at its end is a common slip.
    let path = path.strip_suffix('/').unwrap_or(path).to_owned();
    let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let method = asked.head.method.clone();
    let request_id = Arc::clone(&asked.request_id);
    let shared = if asked.head.headers.contains_key(&VERSION) || segments.starts_with(&["v1", "messages"]) {
        DialectId::Messages
    } else {
        DialectId::Chat
    };
    let (client, result) = match (&method, segments.as_slice()) {
        (&Method::POST, ["v1", "chat", "completions"]) => {
            (DialectId::Chat, Box::pin(api::model_call::answer(asked, body, DialectId::Chat)).await)
        }
        (&Method::POST, ["v1", "responses"]) => {
            (DialectId::Responses, Box::pin(api::model_call::answer(asked, body, DialectId::Responses)).await)
        }
        (&Method::POST, ["v1", "messages"]) => {
            (DialectId::Messages, Box::pin(api::model_call::answer(asked, body, DialectId::Messages)).await)
        }
        (&Method::GET, ["v1", "responses"]) => (DialectId::Responses, Err(no_socket(&asked))),
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
        (&Method::GET, ["v1", "models"]) => (shared, api::models::list(&asked, shared)),
        (&Method::GET, ["v1", "models", rest @ ..]) => {
            (shared, api::models::get(&asked, &rest.join("/"), shared))
        }
        (&Method::GET, ["trilith", "requests", id, "losses"]) => {
            (DialectId::Chat, api::losses::get(&asked, id))
        }
        (&Method::GET, ["health" | "ready"]) => return api::health::ok(),
        (_, known) => (shared, Err(no_route(known))),
    };
    result.unwrap_or_else(|error| answer::error(&error, client, &request_id))
}

/// What a handler gives back.
pub(crate) type Handled = Result<Response<Answer>, Error>;

/// Clients that would rather have a WebSocket fall back to HTTP at once on this status; other statuses make
/// them try for seconds (Codex).
fn no_socket(asked: &Asked) -> Error {
    if !asked.head.headers.contains_key(header::UPGRADE) {
        return wrong_method();
    }
    Error::new(
        ErrorKind::UpgradeRequired,
        ErrorOrigin::Caller,
        "responses are not served over a WebSocket here; send POST /v1/responses",
    )
}

fn wrong_method() -> Error {
    Error::new(ErrorKind::MethodNotAllowed, ErrorOrigin::Caller, "this path does not take this method")
}

fn no_route(segments: &[&str]) -> Error {
    let known = matches!(
        segments,
        ["v1", "chat", "completions"]
            | ["v1", "responses"]
            | ["v1", "messages"]
            | ["v1", "responses", _]
            | ["v1", "responses", _, "input_items" | "cancel"]
            | ["v1", "models", ..]
            | ["trilith", "requests", _, "losses"]
            | ["health" | "ready"]
    );
    if known {
        return wrong_method();
    }
    Error::new(
        ErrorKind::NotFound,
        ErrorOrigin::Caller,
        "no such path; Trilith serves /v1/responses, /v1/chat/completions, /v1/messages and /v1/models",
    )
}
