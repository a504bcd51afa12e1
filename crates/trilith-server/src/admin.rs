//! The admin listener: health, readiness and metrics, for whoever runs the process.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;

use crate::{
    answer::{Answer, with_type},
    app::App,
    listen::Draining,
};

/// Answers one request of an operator.
pub(crate) async fn answer(
    app: Arc<App>,
    draining: Draining,
    request: Request<Incoming>,
) -> Response<Answer> {
    let text = HeaderValue::from_static("text/plain; charset=utf-8");
    let say = |status, words: &'static str| {
        with_type(status, text.clone(), Answer::Whole(Some(Bytes::from_static(words.as_bytes()))))
    };
    if request.method() != Method::GET {
        return say(StatusCode::METHOD_NOT_ALLOWED, "only GET\n");
    }
    match request.uri().path() {
        "/health" => say(StatusCode::OK, "ok\n"),
        "/ready" if draining.is_draining() => say(StatusCode::SERVICE_UNAVAILABLE, "draining\n"),
        // The store is what every kept response needs; a process that cannot write to it should get no traffic.
        "/ready" => match app.runtime.store.check(now_s(&app)).await {
            Ok(()) => say(StatusCode::OK, "ready\n"),
            Err(error) => with_type(
                StatusCode::SERVICE_UNAVAILABLE,
                text.clone(),
                Answer::Whole(Some(format!("the store cannot be written to: {error}\n").into())),
            ),
        },
        "/metrics" => {
            let kind = HeaderValue::from_static(trilith_ops::CONTENT_TYPE);
            with_type(StatusCode::OK, kind, Answer::Whole(Some(app.meter.render().into())))
        }
        _ => say(StatusCode::NOT_FOUND, "try /health, /ready or /metrics\n"),
    }
}

fn now_s(app: &App) -> i64 {
    i64::try_from(app.runtime.clock.unix_ms() / 1000).unwrap_or(i64::MAX)
}
