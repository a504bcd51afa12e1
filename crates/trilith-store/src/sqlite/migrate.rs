//! Numbered steps from an empty file to the present shape; forward only.

use rusqlite::{Connection, TransactionBehavior};

use super::OpenError;

const STEPS: &[&str] = &[include_str!("migrations/0001_segments.sql")];

/// Brings the database to the present shape. Several processes may try at once: one does it.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), OpenError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: u32 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let version = version as usize;
    if version > STEPS.len() {
        return Err(OpenError::Newer { found: version, known: STEPS.len() });
    }
    for (step, sql) in STEPS.iter().enumerate().skip(version) {
        transaction.execute_batch(sql)?;
        transaction.pragma_update(None, "user_version", (step + 1) as i64)?;
    }
    transaction.commit()?;
    Ok(())
}
