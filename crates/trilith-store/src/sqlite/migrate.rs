//! Numbered steps from an empty file to the present shape; forward only.

use rusqlite::{Connection, TransactionBehavior};

use super::OpenError;

/// Marks the file as Trilith's (`Tlth`), so that no other program's database is taken for an empty one.
const APPLICATION: i32 = 0x546c_7468;

pub(super) const STEPS: &[&str] =
    &[include_str!("migrations/0001_segments.sql"), include_str!("migrations/0002_items_by_id.sql")];

/// Brings the database to the present shape. Several processes may try at once: one does it.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), OpenError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: u32 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let version = version as usize;
    let application: i32 = transaction.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    let tables: u32 = transaction.query_row("SELECT COUNT(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application != APPLICATION && tables > 0 {
        return Err(OpenError::Foreign);
    }
    if version > STEPS.len() {
        return Err(OpenError::Newer { found: version, known: STEPS.len() });
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    for (step, sql) in STEPS.iter().enumerate().skip(version) {
        transaction.execute_batch(sql)?;
        transaction.pragma_update(None, "user_version", (step + 1) as i64)?;
    }
    transaction.commit()?;
    Ok(())
}
