//! What the writer does inside its transaction.

use std::fmt;

use rusqlite::{Connection, ErrorCode, OptionalExtension, Result, params};
use sha2::{Digest, Sha256};
use trilith_core::{Error, Item, Response, Settings, StoreError};

use crate::codec::{self, StoredResponse};

/// Why a write did nothing.
#[derive(Debug)]
pub(super) enum WriteError {
    /// SQLite failed.
    Sqlite(rusqlite::Error),
    /// The transaction was over before its turn came.
    Closed(StoreError),
    /// The parent is gone.
    ParentGone,
    /// The response was deleted before it ended, or never began.
    ResponseGone,
}

impl WriteError {
    /// Whether the storage is to blame, so that the same write may succeed later.
    pub(super) fn is_of_storage(&self) -> bool {
        match self {
            Self::Sqlite(error) => error.sqlite_error_code() != Some(ErrorCode::ConstraintViolation),
            Self::Closed(_) => true,
            Self::ParentGone | Self::ResponseGone => false,
        }
    }
}

impl From<rusqlite::Error> for WriteError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(error) => write!(f, "the database: {error}"),
            Self::Closed(error) => error.fmt(f),
            Self::ParentGone => f.write_str("the response it continues is gone"),
            Self::ResponseGone => f.write_str("the response is gone or never began"),
        }
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
    let in_to = append(connection, tid, &place, input.iter())?;
    let hash = settings(connection, &response.settings)?;
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
            hash,
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
    let found: Option<(i64, i64, Place)> = connection
        .prepare_cached(
            "SELECT r.rid, r.tid, r.sid, r.in_to FROM response r JOIN tenant t USING (tid)
             WHERE t.name = ?1 AND r.id = ?2 AND r.status IN ('queued', 'in_progress')",
        )?
        .query_row(params![tenant, response.id], |row| {
            Ok((row.get(0)?, row.get(1)?, Place { sid: row.get(2)?, pos: row.get(3)? }))
        })
        .optional()?;
    let (rid, tid, place) = found.ok_or(WriteError::ResponseGone)?;
    let out_to = append(connection, tid, &place, response.output.iter().map(|output| &output.item))?;
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

/// Ends what an earlier process left running, with the items of its input kept.
pub(super) fn recover(
    connection: &Connection,
    error: &Error,
    now: i64,
) -> std::result::Result<u64, WriteError> {
    let left: Vec<(i64, Vec<u8>)> = connection
        .prepare("SELECT rid, body FROM response WHERE status IN ('queued', 'in_progress')")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_>>()?;
    for (rid, body) in &left {
        let mut stored: StoredResponse = codec::decode(body).unwrap_or_default();
        stored.error = Some(error.into());
        connection
            .prepare_cached("UPDATE response SET status = 'failed', ended_at = ?2, body = ?3 WHERE rid = ?1")?
            .execute(params![rid, now, codec::encode(&stored)])?;
    }
    Ok(left.len() as u64)
}

/// Where a continuation of `parent` goes: behind it if it is the last of its segment, else on a new branch.
fn after(connection: &Connection, tid: i64, parent: &str) -> std::result::Result<Place, WriteError> {
    // A later response may stand at the same place: one that has neither input nor output yet, or never gets
    // any. And behind the last one may lie items of deleted responses that no sweep has taken yet.
    let found: Option<(i64, i64, bool)> = connection
        .prepare_cached(
            "SELECT r.sid, r.out_to,
                 s.tip = r.out_to AND r.rid = (SELECT MAX(rid) FROM response WHERE sid = r.sid)
             FROM response r JOIN segment s USING (sid)
             WHERE r.tid = ?1 AND r.id = ?2 AND r.status NOT IN ('queued', 'in_progress')",
        )?
        .query_row(params![tid, parent], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    match found.ok_or(WriteError::ParentGone)? {
        (sid, pos, true) => Ok(Place { sid, pos }),
        (sid, pos, false) => Ok(Place { sid: new_segment(connection, tid, Some((sid, pos)))?, pos: 0 }),
    }
}

/// Keeps the settings unless an equal row is there already; gives their hash.
fn settings(connection: &Connection, settings: &Settings) -> Result<Vec<u8>> {
    let plain = codec::encode_plain(settings);
    let hash = Sha256::digest(&plain).to_vec();
    if !connection.prepare_cached("SELECT 1 FROM settings WHERE hash = ?1")?.exists([&hash])? {
        connection
            .prepare_cached("INSERT INTO settings (hash, body) VALUES (?1, ?2)")?
            .execute(params![hash, codec::pack(plain)])?;
    }
    Ok(hash)
}

fn new_segment(connection: &Connection, tid: i64, parent: Option<(i64, i64)>) -> Result<i64> {
    let (sid, pos) = parent.unzip();
    connection
        .prepare_cached("INSERT INTO segment (tid, parent_sid, parent_pos) VALUES (?1, ?2, ?3)")?
        .insert(params![tid, sid, pos])
}

fn append<'a>(
    connection: &Connection,
    tid: i64,
    place: &Place,
    items: impl Iterator<Item = &'a Item>,
) -> Result<i64> {
    let mut insert = connection
        .prepare_cached("INSERT INTO item (sid, pos, item_id, body, tid) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    let Place { sid, mut pos } = *place;
    for item in items {
        insert.execute(params![sid, pos, item.id.as_deref().unwrap_or(""), codec::encode(item), tid])?;
        pos += 1;
    }
    connection.prepare_cached("UPDATE segment SET tip = ?2 WHERE sid = ?1")?.execute(params![sid, pos])?;
    Ok(pos)
}

/// Writes one page, with what it holds already.
pub(super) fn probe(connection: &Connection) -> Result<()> {
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    connection.pragma_update(None, "user_version", version)
}

fn tenant_id(connection: &Connection, tenant: &str) -> Result<i64> {
    let mut find = connection.prepare_cached("SELECT tid FROM tenant WHERE name = ?1")?;
    if let Some(tid) = find.query_row([tenant], |row| row.get(0)).optional()? {
        return Ok(tid);
    }
    connection.prepare_cached("INSERT INTO tenant (name) VALUES (?1)")?.insert([tenant])
}
