//! The database's file: made for its owner alone, claimed by one process, and looked after while it is served.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags};
use trilith_core::StoreError;

use super::OpenError;

/// The file that a store writes to. A file that is deleted or replaced takes every write in silence and gives none
/// of them back.
pub(super) struct DatabaseFile {
    path: PathBuf,
    identity: Identity,
}

impl DatabaseFile {
    pub(super) fn of(path: &Path) -> std::io::Result<Self> {
        Ok(Self { path: path.into(), identity: identity(path)? })
    }

    /// Whether the file is still the one that was opened.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        match identity(&self.path) {
            Ok(found) if found == self.identity => Ok(()),
            Ok(_) => Err(StoreError("the database file was replaced by another; restart the server".into())),
            Err(error) => {
                Err(StoreError(format!("the database file cannot be found any more: {error}").into()))
            }
        }
    }
}

#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = ();

#[cfg(unix)]
fn identity(path: &Path) -> std::io::Result<Identity> {
    use std::os::unix::fs::MetadataExt;
    let found = fs::metadata(path)?;
    Ok((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> std::io::Result<Identity> {
    fs::metadata(path).map(drop)
}

pub(super) fn connect(path: &Path) -> Result<Connection, OpenError> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "secure_delete", true)?;
    Ok(connection)
}

/// Claims a database for this process. What another process left running is marked as failed at start, which
/// would be wrong while that process still runs. The claim is a lock on a file beside the database, since SQLite
/// takes its own locks on the database itself; the system gives it back whenever the process ends.
pub(super) fn claim(path: &Path) -> Result<fs::File, OpenError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let name = PathBuf::from(name);
    let file = |error| OpenError::File(name.clone(), error);
    let mut options = fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let claim = options.open(&name).map_err(file)?;
    match claim.try_lock() {
        Ok(()) => Ok(claim),
        Err(fs::TryLockError::WouldBlock) => Err(OpenError::InUse),
        Err(fs::TryLockError::Error(error)) => Err(file(error)),
    }
}

/// Conversations are nobody else's business: the file is made readable by its owner alone.
pub(super) fn create_private(path: &Path) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path).map(drop)
}
