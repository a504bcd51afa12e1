//! What readers ask.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};
use trilith_core::{
    InputPage, Item, ItemPage, ItemStatus, OutputItem, Response, ResponseState, Status, StoreError,
    StoredContext,
};

use crate::codec::{self, StoredResponse, StoredSettings};

pub(super) fn fail(error: impl std::fmt::Display) -> StoreError {
    StoreError(error.to_string().into())
}

/// A response's window.
struct Window {
    sid: i64,
    in_to: i64,
    out_to: i64,
    status: Status,
}

fn window(connection: &Connection, tenant: &str, id: &str) -> Result<Option<Window>, StoreError> {
    let found = connection
        .prepare_cached(
            "SELECT r.sid, r.in_to, r.out_to, r.status FROM response r JOIN tenant t USING (tid)
             WHERE t.name = ?1 AND r.id = ?2 AND r.deleted_at IS NULL",
        )
        .and_then(|mut query| {
            query
                .query_row([tenant, id], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get::<_, String>(3)?))
                })
                .optional()
        })
        .map_err(fail)?;
    let Some((sid, in_to, out_to, status)) = found else { return Ok(None) };
    let status = Status::parse(&status).ok_or_else(|| fail("unknown status in a stored response"))?;
    Ok(Some(Window { sid, in_to, out_to, status }))
}

/// The items from the first turn up to `(sid, end)`, one range scan for each branch on the way.
fn items_up_to(connection: &Connection, sid: i64, end: i64) -> Result<Vec<Item>, StoreError> {
    let mut ranges = vec![(sid, end)];
    let mut at = sid;
    loop {
        let parent: (Option<i64>, Option<i64>) = connection
            .prepare_cached("SELECT parent_sid, parent_pos FROM segment WHERE sid = ?1")
            .and_then(|mut query| query.query_row([at], |row| Ok((row.get(0)?, row.get(1)?))))
            .map_err(fail)?;
        let (Some(parent), Some(pos)) = parent else { break };
        ranges.push((parent, pos));
        at = parent;
    }
    let mut items = Vec::new();
    for (sid, end) in ranges.into_iter().rev() {
        let before = items.len();
        range(connection, sid, 0, end, &mut items)?;
        // A hole would change what the model sees without a word.
        if items.len() - before != usize::try_from(end).unwrap_or(usize::MAX) {
            return Err(fail("items of a stored conversation are missing"));
        }
    }
    Ok(items)
}

fn range(
    connection: &Connection,
    sid: i64,
    from: i64,
    to: i64,
    items: &mut Vec<Item>,
) -> Result<(), StoreError> {
    let mut query = connection
        .prepare_cached("SELECT body FROM item WHERE sid = ?1 AND pos >= ?2 AND pos < ?3 ORDER BY pos")
        .map_err(fail)?;
    let mut rows = query.query(params![sid, from, to]).map_err(fail)?;
    while let Some(row) = rows.next().map_err(fail)? {
        let body = row.get_ref(0).and_then(|body| Ok(body.as_blob()?)).map_err(fail)?;
        items.push(codec::decode(body).map_err(fail)?);
    }
    Ok(())
}

pub(super) fn context(
    connection: &Connection,
    tenant: &str,
    id: &str,
) -> Result<Option<StoredContext>, StoreError> {
    let Some(window) = window(connection, tenant, id)? else { return Ok(None) };
    if !window.status.is_final() {
        return Ok(None);
    }
    let items = items_up_to(connection, window.sid, window.out_to)?;
    Ok(Some(StoredContext { items }))
}

pub(super) fn input_items(
    connection: &Connection,
    tenant: &str,
    id: &str,
    page: &InputPage,
) -> Result<Option<ItemPage>, StoreError> {
    let Some(window) = window(connection, tenant, id)? else { return Ok(None) };
    let mut items = items_up_to(connection, window.sid, window.in_to)?;
    if !page.ascending {
        items.reverse();
    }
    let start = match &page.after {
        None => 0,
        Some(after) => match items.iter().position(|item| item.id.as_ref() == Some(after)) {
            Some(place) => place + 1,
            None => return Ok(None),
        },
    };
    items.drain(..start);
    let has_more = items.len() > page.limit;
    items.truncate(page.limit);
    // What is listed was said: an item without a status of its own is complete.
    for item in &mut items {
        item.status.get_or_insert(ItemStatus::Completed);
    }
    Ok(Some(ItemPage { items, has_more }))
}

struct Row {
    sid: i64,
    in_to: i64,
    out_to: i64,
    prev_id: Option<String>,
    status: String,
    body: Vec<u8>,
    settings: Vec<u8>,
    created_at: i64,
    ended_at: Option<i64>,
}

pub(super) fn get(connection: &Connection, tenant: &str, id: &str) -> Result<Option<Response>, StoreError> {
    let row = connection
        .prepare_cached(
            "SELECT r.sid, r.in_to, r.out_to, r.prev_id, r.status, r.body, s.body, r.created_at, r.ended_at
             FROM response r JOIN tenant t USING (tid) JOIN settings s ON s.hash = r.settings_hash
             WHERE t.name = ?1 AND r.id = ?2 AND r.deleted_at IS NULL",
        )
        .and_then(|mut query| {
            query
                .query_row([tenant, id], |row| {
                    Ok(Row {
                        sid: row.get(0)?,
                        in_to: row.get(1)?,
                        out_to: row.get(2)?,
                        prev_id: row.get(3)?,
                        status: row.get(4)?,
                        body: row.get(5)?,
                        settings: row.get(6)?,
                        created_at: row.get(7)?,
                        ended_at: row.get(8)?,
                    })
                })
                .optional()
        })
        .map_err(fail)?;
    let Some(row) = row else { return Ok(None) };
    let stored: StoredResponse = codec::decode(&row.body).map_err(fail)?;
    let settings: StoredSettings = codec::decode(&row.settings).map_err(fail)?;
    let mut items = Vec::new();
    range(connection, row.sid, row.in_to, row.out_to, &mut items)?;
    let mut choices = stored.choices.into_iter();
    let output = items
        .into_iter()
        .map(|item| OutputItem { choice: choices.next().unwrap_or(0), open: false, item })
        .collect();
    Ok(Some(Response::restore(ResponseState {
        id: id.into(),
        created_at: row.created_at,
        ended_at: row.ended_at,
        status: Status::parse(&row.status).ok_or_else(|| fail("unknown status in a stored response"))?,
        settings: Arc::new(settings),
        store: true,
        background: stored.background,
        previous_response_id: row.prev_id.map(Into::into),
        conversation: stored.conversation,
        upstream: stored.upstream,
        output,
        finishes: stored.finishes.into_iter().map(|finish| finish.0).collect(),
        usage: stored.usage,
        incomplete: stored.incomplete,
        error: stored.error.map(Into::into),
    })))
}
