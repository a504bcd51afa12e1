//! `/v1/models`: the names that a caller may use.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    task::Poll,
};

use http::StatusCode;
use trilith_core::{BoxFuture, DialectId, Error, ErrorKind, ErrorOrigin};
use trilith_dialect::models;
use trilith_ops::Route;

use crate::{
    admit, answer,
    app::App,
    query,
    route::{Asked, Handled},
};

/// The most names of one list.
const MOST: usize = 10_000;

/// Every configured name that the caller's key may call; for patterns, the names that they cover of those that
/// their providers list.
pub(crate) async fn list(asked: &Asked, client: DialectId) -> Handled {
    let caller = caller(asked)?;
    let app = &asked.app;
    let lists = offered(app).await;
    let mut seen = HashSet::new();
    let mut names: Vec<&str> = app.router.named().map(|route| &*route.name).collect();
    for route in app.router.patterns() {
        for target in &route.targets {
            let fixed = target.fixed_model();
            let listed = lists.get(&target.provider).filter(|_| fixed.is_none());
            let listed = listed.into_iter().flat_map(|names| names.iter().map(|name| &**name));
            names.extend(listed.chain(fixed).filter(|name| leads_to(app, name, route)));
        }
    }
    names.retain(|name| caller.principal.may_call(name) && seen.insert(*name));
    names.truncate(MOST);
    let mut body = Vec::new();
    models::encode_list(client, &names, &query::pairs(&asked.head.uri), &mut body)?;
    Ok(answer::json(StatusCode::OK, body))
}

/// Whether a caller who names that model comes to that route, and to no other before it.
fn leads_to(app: &App, name: &str, route: &Arc<Route>) -> bool {
    app.router.resolve(name).is_some_and(|found| Arc::ptr_eq(&found, route))
}

/// The lists of the providers that take a caller's name as it is, all asked at once.
async fn offered(app: &App) -> HashMap<Arc<str>, Arc<[Box<str>]>> {
    let now_us = app.runtime.clock.monotonic_us();
    let open = app.router.patterns().flat_map(|route| &route.targets);
    let open = open.filter(|target| target.fixed_model().is_none()).map(|target| &target.provider);
    let providers: HashSet<&Arc<str>> = open.collect();
    let asking = providers.into_iter().filter_map(|provider| {
        let upstream = app.upstreams.get(provider)?;
        let ask: BoxFuture<'_, _> =
            Box::pin(async move { (Arc::clone(provider), app.offered.of(&**upstream, now_us).await) });
        Some(ask)
    });
    together(asking.collect()).await.into_iter().collect()
}

/// The answers of all futures, in the order in which they come.
async fn together<T>(mut waiting: Vec<BoxFuture<'_, T>>) -> Vec<T> {
    let mut answers = Vec::with_capacity(waiting.len());
    std::future::poll_fn(|context| {
        waiting.retain_mut(|future| match future.as_mut().poll(context) {
            Poll::Ready(answer) => {
                answers.push(answer);
                false
            }
            Poll::Pending => true,
        });
        if waiting.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    answers
}

/// One name; also one that a pattern covers.
pub(crate) fn get(asked: &Asked, name: &str, client: DialectId) -> Handled {
    let caller = caller(asked)?;
    if name.is_empty() || !caller.principal.may_call(name) || asked.app.router.resolve(name).is_none() {
        return Err(unknown(name));
    }
    let mut body = Vec::new();
    models::encode_model(client, name, &mut body);
    Ok(answer::json(StatusCode::OK, body))
}

fn caller(asked: &Asked) -> Result<admit::Caller, Error> {
    admit::caller(&asked.app, &asked.head.headers, &asked.head.uri)
}

/// Nobody serves a model of that name, or this caller may not know that somebody does.
pub(crate) fn unknown(name: &str) -> Error {
    let shown: String = name.chars().take(80).collect();
    Error::new(
        ErrorKind::NotFound,
        ErrorOrigin::Caller,
        format!("The model '{shown}' does not exist or you do not have access to it."),
    )
    .with_param("model")
    .with_code("model_not_found")
}
