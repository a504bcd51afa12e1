//! `/v1/models`: the names that a caller may use.

use http::StatusCode;
use trilith_core::{DialectId, Error, ErrorKind, ErrorOrigin};
use trilith_dialect::models;

use crate::{
    admit, answer,
    route::{Asked, Handled},
};

/// Every configured name that is no pattern and that the caller's key may call.
pub(crate) fn list(asked: &Asked, client: DialectId) -> Handled {
    let caller = caller(asked)?;
    let names = asked.app.router.named().map(|route| &*route.name);
    let names: Vec<&str> = names.filter(|name| caller.principal.may_call(name)).collect();
    let mut body = Vec::new();
    models::encode_list(client, &names, &mut body);
    Ok(answer::json(StatusCode::OK, body))
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
