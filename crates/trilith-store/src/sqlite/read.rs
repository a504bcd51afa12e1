//! What readers ask.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};
use trilith_core::{
    InputPage, Item, ItemPage, ItemStatus, OutputItem, Response, ResponseState, Settings, Status, StoreError,
    StoredContext,
};

use super::reclaim;
use crate::codec::{self, StoredResponse};

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
             WHERE t.name = ?1 AND r.id = ?2",
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

/// A run of items: positions `from..to` of a segment.
struct Run {
    sid: i64,
    from: i64,
    to: i64,
}

/// Everything from the first turn up to `(sid, end)`, oldest first: one run for each branch on the way.
fn runs_up_to(connection: &Connection, sid: i64, end: i64) -> Result<Vec<Run>, StoreError> {
    let mut runs = vec![Run { sid, from: 0, to: end }];
    let mut at = sid;
    loop {
        let parent: (Option<i64>, Option<i64>) = connection
            .prepare_cached("SELECT parent_sid, parent_pos FROM segment WHERE sid = ?1")
            .and_then(|mut query| query.query_row([at], |row| Ok((row.get(0)?, row.get(1)?))))
            .map_err(fail)?;
        let (Some(parent), Some(pos)) = parent else { break };
        runs.push(Run { sid: parent, from: 0, to: pos });
        at = parent;
    }
    runs.reverse();
    Ok(runs)
}

/// Reads a run, in its order or backwards. A hole is an error: it would change what a model sees without a
/// word.
fn read(
    connection: &Connection,
    run: &Run,
    ascending: bool,
    items: &mut Vec<Item>,
) -> Result<(), StoreError> {
    let mut query = connection
        .prepare_cached(if ascending {
            "SELECT body FROM item WHERE sid = ?1 AND pos >= ?2 AND pos < ?3 ORDER BY pos"
        } else {
            "SELECT body FROM item WHERE sid = ?1 AND pos >= ?2 AND pos < ?3 ORDER BY pos DESC"
        })
        .map_err(fail)?;
    let mut rows = query.query(params![run.sid, run.from, run.to]).map_err(fail)?;
    let before = items.len();
    while let Some(row) = rows.next().map_err(fail)? {
        let body = row.get_ref(0).and_then(|body| Ok(body.as_blob()?)).map_err(fail)?;
        items.push(codec::decode(body).map_err(fail)?);
    }
    if items.len() - before != usize::try_from(run.to - run.from).unwrap_or(0) {
        return Err(fail("items of a stored conversation are missing"));
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
    let mut items = Vec::new();
    for run in runs_up_to(connection, window.sid, window.out_to)? {
        read(connection, &run, true, &mut items)?;
    }
    Ok(Some(StoredContext { items }))
}

pub(super) fn input_items(
    connection: &Connection,
    tenant: &str,
    id: &str,
    page: &InputPage,
) -> Result<Option<ItemPage>, StoreError> {
    let Some(window) = window(connection, tenant, id)? else { return Ok(None) };
    let mut runs = runs_up_to(connection, window.sid, window.in_to)?;
    if !page.ascending {
        runs.reverse();
    }
    if let Some(after) = &page.after
        && !skip_to(connection, &mut runs, page.ascending, after)?
    {
        return Ok(None);
    }
    let mut items = Vec::new();
    let mut left = i64::try_from(page.limit).unwrap_or(i64::MAX).saturating_add(1);
    for run in &mut runs {
        let take = left.min(run.to - run.from);
        if page.ascending {
            run.to = run.from + take;
        } else {
            run.from = run.to - take;
        }
        read(connection, run, page.ascending, &mut items)?;
        left -= take;
    }
    let has_more = items.len() > page.limit;
    items.truncate(page.limit);
    // What is listed was said: an item without a status of its own is complete.
    for item in &mut items {
        item.status.get_or_insert(ItemStatus::Completed);
    }
    Ok(Some(ItemPage { items, has_more }))
}

/// Leaves only what is listed after the item of that id; says whether there is such an item. A caller may have
/// brought an id twice: the last place counts, so that whoever pages comes to an end.
fn skip_to(
    connection: &Connection,
    runs: &mut Vec<Run>,
    ascending: bool,
    after: &str,
) -> Result<bool, StoreError> {
    let mut find = connection
        .prepare_cached(if ascending {
            "SELECT pos FROM item WHERE sid = ?1 AND pos < ?2 AND item_id = ?3 ORDER BY pos DESC LIMIT 1"
        } else {
            "SELECT pos FROM item WHERE sid = ?1 AND pos < ?2 AND item_id = ?3 ORDER BY pos LIMIT 1"
        })
        .map_err(fail)?;
    for place in (0..runs.len()).rev() {
        let run = &mut runs[place];
        let found = find.query_row(params![run.sid, run.to, after], |row| row.get::<_, i64>(0));
        if let Some(pos) = found.optional().map_err(fail)? {
            if ascending {
                run.from = pos + 1;
            } else {
                run.to = pos;
            }
            runs.drain(..place);
            return Ok(true);
        }
    }
    Ok(false)
}

/// The newest item of that id of a tenant, if a response still has it: behind the last one may lie items of
/// deleted responses that no sweep has taken yet.
pub(super) fn item(connection: &Connection, tenant: &str, id: &str) -> Result<Option<Item>, StoreError> {
    let mut query = connection
        .prepare_cached(
            "SELECT sid, pos, body FROM item
             WHERE tid = (SELECT tid FROM tenant WHERE name = ?1) AND item_id = ?2 ORDER BY rowid DESC LIMIT ?3",
        )
        .map_err(fail)?;
    let mut rows = query.query(params![tenant, id, NAMESAKES]).map_err(fail)?;
    while let Some(row) = rows.next().map_err(fail)? {
        let (sid, pos): (i64, i64) = row.get(0).and_then(|sid| Ok((sid, row.get(1)?))).map_err(fail)?;
        let (_, needed, _) = reclaim::need(connection, sid).map_err(fail)?;
        if pos < needed {
            let body = row.get_ref(2).and_then(|body| Ok(body.as_blob()?)).map_err(fail)?;
            return codec::decode(body).map(Some).map_err(fail);
        }
    }
    Ok(None)
}

/// How many items of one id are looked at: upstreams repeat ids, and of deleted ones few wait for the sweep.
const NAMESAKES: i64 = 64;

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
             WHERE t.name = ?1 AND r.id = ?2",
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
    let settings: Settings = codec::decode(&row.settings).map_err(fail)?;
    let mut items = Vec::new();
    read(connection, &Run { sid: row.sid, from: row.in_to, to: row.out_to }, true, &mut items)?;
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
