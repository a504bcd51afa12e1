//! `/trilith/requests/{id}/losses`: everything that a recent request could not carry.

use http::StatusCode;
use trilith_core::{Error, ErrorKind, ErrorOrigin};
use trilith_dialect::report;

use crate::{
    admit, answer,
    route::{Asked, Handled},
};

/// The report of one request of the caller's tenant.
pub(crate) fn get(asked: &Asked, id: &str) -> Handled {
    let caller = admit::caller(&asked.app, &asked.head.headers, &asked.head.uri)?;
    let Some(found) = asked.app.traces.get(&caller.principal.tenant, id) else {
        return Err(Error::new(
            ErrorKind::NotFound,
            ErrorOrigin::Caller,
            "no losses are known of such a request: it lost nothing, is too long ago, or is not yours",
        ));
    };
    let mut body = Vec::new();
    report::encode(id, &found.losses, found.omitted, &mut body);
    Ok(answer::json(StatusCode::OK, body))
}
