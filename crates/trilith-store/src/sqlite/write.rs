//! What the writer does inside its transaction.

use rusqlite::{Connection, OptionalExtension, Result, params};
use sha2::{Digest, Sha256};
use trilith_core::{Item, Response};

use crate::codec::{self, StoredResponse};

/// Why a write did nothing.
#[derive(Debug)]
pub(super) enum WriteError {
    /// SQLite failed; the whole batch is rolled back.
    Sqlite(rusqlite::Error),
    /// The parent is gone; only this write is refused.
    ParentGone,
    /// The response was deleted before it ended, or never began.
    ResponseGone,
}

impl From<rusqlite::Error> for WriteError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// Where a response's items go.
struct Place {
    sid: i64,
    pos: i64,
}

/// Records a response that begins, with its input.
pub(super) fn begin(
    connection: &Connection,
    tenant: &str,
    response: &Response,
    input: &[Item],
    retention_s: i64,
) -> std::result::Result<(), WriteError> {
    let tid = tenant_id(connection, tenant)?;
    let place = match &response.previous_response_id {
        Some(parent) => after(connection, tid, parent)?,
        None => Place { sid: new_segment(connection, tid, None)?, pos: 0 },
    };
    let in_to = append(connection, place.sid, place.pos, input.iter())?;
    let settings = codec::encode(&*response.settings);
    let hash = Sha256::digest(&settings);
    connection
        .prepare_cached("INSERT OR IGNORE INTO settings (hash, body) VALUES (?1, ?2)")?
        .execute(params![hash.as_slice(), settings])?;
    connection
        .prepare_cached(
            "INSERT INTO response (tid, id, sid, in_from, in_to, out_to, prev_id, status, settings_hash, body,
                 created_at, expires_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?
        .execute(params![
            tid,
            response.id,
            place.sid,
            place.pos,
            in_to,
            response.previous_response_id,
            response.status.name(),
            hash.as_slice(),
            codec::encode(&StoredResponse::of(response)),
            response.created_at,
            response.created_at.saturating_add(retention_s),
        ])?;
    Ok(())
}

/// Records a response's end, with its output.
pub(super) fn commit(
    connection: &Connection,
    tenant: &str,
    response: &Response,
) -> std::result::Result<(), WriteError> {
    let tid = tenant_id(connection, tenant)?;
    let found: Option<(i64, i64, i64)> = connection
        .prepare_cached(
            "SELECT rid, sid, in_to FROM response WHERE tid = ?1 AND id = ?2 AND deleted_at IS NULL
                 AND status IN ('queued', 'in_progress')",
        )?
        .query_row(params![tid, response.id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let (rid, sid, in_to) = found.ok_or(WriteError::ResponseGone)?;
    let out_to = append(connection, sid, in_to, response.output.iter().map(|output| &output.item))?;
    connection
        .prepare_cached(
            "UPDATE response SET out_to = ?2, status = ?3, body = ?4, ended_at = ?5 WHERE rid = ?1",
        )?
        .execute(params![
            rid,
            out_to,
            response.status.name(),
            codec::encode(&StoredResponse::of(response)),
            response.ended_at,
        ])?;
    Ok(())
}

/// Marks a response as deleted and gives back the space that nothing needs any more.
pub(super) fn delete(connection: &Connection, tenant: &str, response: &str, now: i64) -> Result<bool> {
    let tid = tenant_id(connection, tenant)?;
    let sid: Option<i64> = connection
        .prepare_cached(
            "UPDATE response SET deleted_at = ?3 WHERE tid = ?1 AND id = ?2 AND deleted_at IS NULL
             RETURNING sid",
        )?
        .query_row(params![tid, response, now], |row| row.get(0))
        .optional()?;
    let Some(sid) = sid else { return Ok(false) };
    reclaim(connection, sid)?;
    Ok(true)
}

/// Ends what an earlier process left running, with the items of its input kept.
pub(super) fn recover(connection: &Connection, body: &[u8], now: i64) -> Result<u64> {
    let ended = connection.execute(
        "UPDATE response SET status = 'failed', ended_at = ?1, body = ?2
         WHERE status IN ('queued', 'in_progress')",
        params![now, body],
    )?;
    Ok(ended as u64)
}

/// Where a continuation of `parent` goes: behind it if nothing is there yet, else on a new branch.
fn after(connection: &Connection, tid: i64, parent: &str) -> std::result::Result<Place, WriteError> {
    let found: Option<(i64, i64, i64)> = connection
        .prepare_cached(
            "SELECT r.sid, r.out_to, s.tip FROM response r JOIN segment s USING (sid)
             WHERE r.tid = ?1 AND r.id = ?2 AND r.deleted_at IS NULL
                 AND r.status NOT IN ('queued', 'in_progress')",
        )?
        .query_row(params![tid, parent], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let (sid, out_to, tip) = found.ok_or(WriteError::ParentGone)?;
    // A continuation that began but has neither input nor output yet also stands at this place.
    if out_to == tip && !continued(connection, sid, out_to, parent)? {
        return Ok(Place { sid, pos: out_to });
    }
    Ok(Place { sid: new_segment(connection, tid, Some((sid, out_to)))?, pos: 0 })
}

/// Whether another response of the segment already begins where `parent` ends.
fn continued(connection: &Connection, sid: i64, pos: i64, parent: &str) -> Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM response WHERE sid = ?1 AND in_from = ?2 AND prev_id = ?3 LIMIT 1")?
        .exists(params![sid, pos, parent])
}

fn new_segment(connection: &Connection, tid: i64, parent: Option<(i64, i64)>) -> Result<i64> {
    let (sid, pos) = parent.unzip();
    connection
        .prepare_cached("INSERT INTO segment (tid, parent_sid, parent_pos) VALUES (?1, ?2, ?3)")?
        .insert(params![tid, sid, pos])
}

fn append<'a>(
    connection: &Connection,
    sid: i64,
    from: i64,
    items: impl Iterator<Item = &'a Item>,
) -> Result<i64> {
    let mut insert = connection
        .prepare_cached("INSERT INTO item (sid, pos, item_id, body) VALUES (?1, ?2, ?3, ?4)")?;
    let mut pos = from;
    for item in items {
        insert.execute(params![sid, pos, item.id.as_deref().unwrap_or(""), codec::encode(item)])?;
        pos += 1;
    }
    connection.prepare_cached("UPDATE segment SET tip = ?2 WHERE sid = ?1")?.execute(params![sid, pos])?;
    Ok(pos)
}

fn tenant_id(connection: &Connection, tenant: &str) -> Result<i64> {
    let mut find = connection.prepare_cached("SELECT tid FROM tenant WHERE name = ?1")?;
    if let Some(tid) = find.query_row([tenant], |row| row.get(0)).optional()? {
        return Ok(tid);
    }
    connection.prepare_cached("INSERT INTO tenant (name) VALUES (?1)")?.insert([tenant])
}

/// Drops the end of a segment as far as only deleted responses stand there, and the segment itself with the
/// last of them; then the same one level up. Items below a live response or a fork stay.
fn reclaim(connection: &Connection, sid: i64) -> Result<()> {
    let mut next = Some(sid);
    while let Some(sid) = next {
        let needed: i64 = connection.query_row(
            "SELECT MAX(
                 COALESCE((SELECT MAX(MAX(out_to, in_to)) FROM response
                           WHERE sid = ?1 AND deleted_at IS NULL), 0),
                 COALESCE((SELECT MAX(parent_pos) FROM segment WHERE parent_sid = ?1), 0))",
            [sid],
            |row| row.get(0),
        )?;
        connection.execute("DELETE FROM item WHERE sid = ?1 AND pos >= ?2", [sid, needed])?;
        connection.execute("UPDATE segment SET tip = MIN(tip, ?2) WHERE sid = ?1", [sid, needed])?;
        let used: bool = connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM response WHERE sid = ?1 AND deleted_at IS NULL)
                 OR EXISTS (SELECT 1 FROM segment WHERE parent_sid = ?1)",
            [sid],
            |row| row.get(0),
        )?;
        if used {
            return Ok(());
        }
        // Tombstones go with the segment: an id that is not found and one that was deleted look alike.
        connection.execute("DELETE FROM response WHERE sid = ?1", [sid])?;
        next = connection
            .query_row("DELETE FROM segment WHERE sid = ?1 RETURNING parent_sid", [sid], |row| row.get(0))
            .optional()?
            .flatten();
    }
    Ok(())
}
