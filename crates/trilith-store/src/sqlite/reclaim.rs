//! Responses that go, by a caller's wish or by age, and the space that nothing needs any more.

use rusqlite::{Connection, OptionalExtension, Result, params};

/// The most rows that one step takes away, so that no commit waits long behind it.
const STEP: i64 = 1_000;
/// The most pages (of 4 KiB) that one sweep gives back to the file system.
const PAGES: u32 = 1_000;

/// What one sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expired {
    /// How many responses went.
    pub responses: u64,
    /// Whether more is waiting: sweep again soon.
    pub more: bool,
}

/// Deletes a response. Its items stay as long as a later response needs them; what nothing needs goes at once,
/// or with the next sweeps if it is much.
pub(super) fn delete(connection: &Connection, tenant: &str, response: &str) -> Result<bool> {
    let found: Option<(i64, Vec<u8>)> = connection
        .prepare_cached(
            "DELETE FROM response WHERE tid = (SELECT tid FROM tenant WHERE name = ?1) AND id = ?2
             RETURNING sid, settings_hash",
        )?
        .query_row([tenant, response], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((sid, settings)) = found else { return Ok(false) };
    drop_settings(connection, &settings)?;
    reclaim(connection, sid, &mut { STEP })?;
    Ok(true)
}

/// Takes away what deletions left behind, then responses that have ended and are past their time; oldest first.
pub(super) fn expire(connection: &Connection, now: i64) -> Result<Expired> {
    let mut budget = STEP;
    let mut responses = 0;
    while budget > 0 {
        let loose = connection
            .prepare_cached("SELECT sid FROM segment WHERE loose = 1 LIMIT 1")?
            .query_row([], |row| row.get(0))
            .optional()?;
        if let Some(sid) = loose {
            reclaim(connection, sid, &mut budget)?;
            continue;
        }
        let old: Option<(i64, i64, Vec<u8>)> = connection
            .prepare_cached(
                "SELECT rid, sid, settings_hash FROM response
                 WHERE expires_at <= ?1 AND status NOT IN ('queued', 'in_progress')
                 ORDER BY expires_at LIMIT 1",
            )?
            .query_row([now], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let Some((rid, sid, settings)) = old else { break };
        connection.prepare_cached("DELETE FROM response WHERE rid = ?1")?.execute([rid])?;
        responses += 1;
        budget -= 1;
        budget -= drop_settings(connection, &settings)?;
        reclaim(connection, sid, &mut budget)?;
    }
    // Each step of this statement gives back one page.
    let mut vacuum = connection.prepare(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
    let mut steps = vacuum.query([])?;
    while steps.next()?.is_some() {}
    Ok(Expired { responses, more: budget <= 0 })
}

/// Drops settings that no response has any more; gives how many rows went.
fn drop_settings(connection: &Connection, hash: &[u8]) -> Result<i64> {
    let dropped = connection
        .prepare_cached(
            "DELETE FROM settings WHERE hash = ?1
                 AND NOT EXISTS (SELECT 1 FROM response WHERE settings_hash = ?1)",
        )?
        .execute([hash])?;
    Ok(dropped as i64)
}

/// Drops the end of a segment as far as neither a response nor a fork needs it, and the segment itself when
/// nothing is left to need it; then the same one level up. At most `budget` rows go.
fn reclaim(connection: &Connection, sid: i64, budget: &mut i64) -> Result<()> {
    let mut next = Some(sid);
    while let Some(sid) = next {
        let (tip, needed, used) = need(connection, sid)?;
        let keep = needed.max(tip - (*budget).max(0));
        let dropped = connection
            .prepare_cached("DELETE FROM item WHERE sid = ?1 AND pos >= ?2")?
            .execute([sid, keep])?;
        *budget -= dropped as i64;
        let loose = keep > needed || (!used && *budget <= 0);
        if used || loose {
            connection
                .prepare_cached("UPDATE segment SET tip = ?2, loose = ?3 WHERE sid = ?1")?
                .execute(params![sid, keep, loose])?;
            return Ok(());
        }
        *budget -= 1;
        next = connection
            .prepare_cached("DELETE FROM segment WHERE sid = ?1 RETURNING parent_sid")?
            .query_row([sid], |row| row.get(0))
            .optional()?
            .flatten();
    }
    Ok(())
}

/// A segment's end, up to where its items are needed, and whether the segment itself is.
pub(super) fn need(connection: &Connection, sid: i64) -> Result<(i64, i64, bool)> {
    connection
        .prepare_cached(
            // The newest response reaches furthest: each goes on from the one before it.
            "SELECT tip,
                 (SELECT out_to FROM response WHERE sid = ?1 ORDER BY rid DESC LIMIT 1),
                 (SELECT MAX(parent_pos) FROM segment WHERE parent_sid = ?1)
             FROM segment WHERE sid = ?1",
        )?
        .query_row([sid], |row| {
            let (tip, response, fork): (i64, Option<i64>, Option<i64>) =
                (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok((tip, response.max(fork).unwrap_or(0), response.or(fork).is_some()))
        })
}
