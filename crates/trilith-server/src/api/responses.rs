//! `/v1/responses/{id}`: responses that are kept (openai-checklist §12).

use http::StatusCode;
use trilith_core::{Error, ErrorKind, ErrorOrigin, InputPage, Response, Store, StoreError};
use trilith_dialect::{Dialect, responses};

use crate::{
    admit::{self, Caller},
    answer, query,
    route::{Asked, Handled},
};

/// A caller's request about kept responses.
struct Ask {
    asked: Asked,
    caller: Caller,
}

impl Ask {
    fn admit(asked: Asked) -> Result<Self, Error> {
        let caller = admit::caller(&asked.app, &asked.head.headers, &asked.head.uri)?;
        Ok(Self { asked, caller })
    }

    fn store(&self) -> &dyn Store {
        &*self.asked.app.runtime.store
    }

    fn tenant(&self) -> &str {
        &self.caller.principal.tenant
    }

    async fn find(&self, id: &str) -> Result<Response, Error> {
        let found = self.store().get(self.tenant(), id).await.map_err(unreadable)?;
        found.ok_or_else(|| not_found(id))
    }

    async fn get(&self, id: &str) -> Result<Vec<u8>, Error> {
        if query::value(&self.asked.head.uri, "stream").is_some_and(|value| value == "true") {
            let text = "a kept response is not streamed again; leave 'stream' out";
            return Err(Error::bad_request("stream", text).with_code("unsupported_parameter"));
        }
        let response = self.find(id).await?;
        let mut body = Vec::with_capacity(2 << 10);
        responses::Responses.encode_response(&response, &mut body);
        Ok(body)
    }

    async fn delete(&self, id: &str) -> Result<Vec<u8>, Error> {
        if !self.store().delete(self.tenant(), id).await.map_err(unreadable)? {
            return Err(not_found(id));
        }
        let mut body = Vec::new();
        responses::encode_deleted(id, &mut body);
        Ok(body)
    }

    async fn cancel(&self, id: &str) -> Result<Vec<u8>, Error> {
        self.find(id).await?;
        let text = "Cannot cancel a synchronous response.";
        Err(Error::new(ErrorKind::BadRequest, ErrorOrigin::Caller, text))
    }

    async fn input_items(&self, id: &str) -> Result<Vec<u8>, Error> {
        let page = page(&self.asked)?;
        let after = page.after.clone();
        let found = self.store().input_items(self.tenant(), id, page).await.map_err(unreadable)?;
        let Some(found) = found else {
            self.find(id).await?;
            let after: String = after.unwrap_or_default().chars().take(80).collect();
            let text = format!("no input item of this response has the id '{after}'");
            return Err(Error::bad_request("after", text));
        };
        let mut body = Vec::with_capacity(1 << 10);
        responses::encode_item_list(&found.items, found.has_more, &mut body);
        Ok(body)
    }
}

/// A response as it stands; also one that is still being made.
pub(crate) async fn get(asked: Asked, id: &str) -> Handled {
    Ok(answer::json(StatusCode::OK, Ask::admit(asked)?.get(id).await?))
}

/// Deletes a response. Responses that continued it keep their context.
pub(crate) async fn delete(asked: Asked, id: &str) -> Handled {
    Ok(answer::json(StatusCode::OK, Ask::admit(asked)?.delete(id).await?))
}

/// Only background responses can be cancelled, and none is served.
pub(crate) async fn cancel(asked: Asked, id: &str) -> Handled {
    Ok(answer::json(StatusCode::OK, Ask::admit(asked)?.cancel(id).await?))
}

/// The whole effective input of a response, earlier turns included.
pub(crate) async fn input_items(asked: Asked, id: &str) -> Handled {
    Ok(answer::json(StatusCode::OK, Ask::admit(asked)?.input_items(id).await?))
}

fn page(asked: &Asked) -> Result<InputPage, Error> {
    let limit = match query::value(&asked.head.uri, "limit") {
        None => 20,
        Some(text) => text
            .parse()
            .ok()
            .filter(|limit| (1..=100).contains(limit))
            .ok_or_else(|| Error::bad_request("limit", "'limit' must be a number from 1 to 100"))?,
    };
    let ascending = match query::value(&asked.head.uri, "order").as_deref() {
        None | Some("desc") => false,
        Some("asc") => true,
        Some(_) => return Err(Error::bad_request("order", "'order' must be 'asc' or 'desc'")),
    };
    Ok(InputPage { limit, ascending, after: query::value(&asked.head.uri, "after").map(Into::into) })
}

fn not_found(id: &str) -> Error {
    let shown: String = id.chars().take(80).collect();
    Error::new(ErrorKind::NotFound, ErrorOrigin::Caller, format!("Response with id '{shown}' not found."))
}

fn unreadable(error: StoreError) -> Error {
    Error::internal("the stored responses could not be read; try again").with_source(error)
}
