//! The file: who may read it, what survives, and how few transactions many writers need.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use super::*;

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    (folder, path)
}

fn open(path: &Path) -> Sqlite {
    Sqlite::open(path, Sync::Full, 30).unwrap()
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, path) = folder();
    let store = open(&path);
    run(turn(&store, "r1", None, &["secret"], &[]));
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{entry:?}");
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    assert_eq!(names, ["t.db", "t.db-shm", "t.db-wal", "t.db.lock"]);
}

#[test]
fn a_database_of_a_newer_version_or_of_another_program_is_refused() {
    let (_folder, path) = folder();
    drop(open(&path));
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let refused = Sqlite::open(&path, Sync::Full, 30).unwrap_err();
    assert!(matches!(refused, OpenError::Newer { found: 99, .. }), "{refused}");

    let (_folder, path) = self::folder();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE mine (a)").unwrap();
    let refused = Sqlite::open(&path, Sync::Full, 30).unwrap_err();
    assert!(matches!(refused, OpenError::Foreign), "{refused}");
    fs::write(&path, [7; 5_000]).unwrap();
    assert!(matches!(Sqlite::open(&path, Sync::Full, 30), Err(OpenError::Sqlite(_))));
    assert!(matches!(Sqlite::open(&path.join("x"), Sync::Full, 30), Err(OpenError::File(..))));
}

#[test]
fn what_stands_in_the_way_of_a_database_is_said_with_what_to_do() {
    use rusqlite::ffi;
    for (code, words) in [
        (ffi::SQLITE_NOTADB, "put back a copy"),
        (ffi::SQLITE_CORRUPT, "put back a copy"),
        (ffi::SQLITE_FULL, "free some"),
        (ffi::SQLITE_READONLY, "let this user write"),
        (ffi::SQLITE_READONLY_DIRECTORY, "let this user write"),
        (ffi::SQLITE_IOERR, "cannot be opened"),
    ] {
        let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        let said = OpenError::Sqlite(error).to_string();
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_database_that_is_served_from_is_not_opened_again() {
    let (_folder, path) = folder();
    let first = open(&path);
    let refused = Sqlite::open(&path, Sync::Full, 30).unwrap_err();
    assert!(matches!(refused, OpenError::InUse), "{refused}");
    drop(first);
    open(&path);
}

#[test]
fn what_was_running_has_failed_after_a_restart_and_the_rest_is_there() {
    let (_folder, path) = folder();
    let store = open(&path);
    run(async {
        turn(&store, "r1", None, &["q1"], &["a1"]).await;
        let running =
            Created { conversation: Some("conv".into()), background: true, ..created("r2", Some("r1")) };
        store.begin(TENANT, Arc::new(Response::new(&running)), said_all(&["q2"])).await.unwrap();
        store.flush().await.unwrap();
    });
    drop(store);
    let store = open(&path);
    run(async {
        assert_eq!(store.get(TENANT, "r2").await.unwrap().unwrap().status, Status::InProgress);
        assert_eq!(store.recover(5_000).await.unwrap(), 1);
        assert_eq!(store.recover(6_000).await.unwrap(), 0);
        let failed = store.get(TENANT, "r2").await.unwrap().unwrap();
        assert_eq!((failed.status, failed.ended_at), (Status::Failed, Some(5_000)));
        assert_eq!(failed.error.as_ref().unwrap().code.as_deref(), Some("server_error"));
        assert_eq!((failed.conversation.as_deref(), failed.background), (Some("conv"), true));
        assert_eq!(context(&store, "r2").await.unwrap(), ["q1", "a1", "q2"]);
        turn(&store, "r3", Some("r2"), &["q3"], &[]).await;
        assert_eq!(context(&store, "r3").await.unwrap(), ["q1", "a1", "q2", "q3"]);
    });
}

#[test]
fn dropping_the_store_writes_what_was_handed_over() {
    let (_folder, path) = folder();
    let store = open(&path);
    let response = run(begin(&store, "r1", None, &["q"]));
    drop(store.commit(TENANT, ended(&response, &["a"])));
    drop(store);
    assert_eq!(run(context(&open(&path), "r1")).unwrap(), ["q", "a"]);
}

/// How many transactions the write-ahead log holds: frames that name the size of the database after them.
fn transactions(path: &Path) -> usize {
    let log = fs::read(path.with_extension("db-wal")).unwrap();
    log[32..].chunks_exact(24 + 4096).filter(|frame| frame[4..8] != [0; 4]).count()
}

#[test]
fn many_writers_share_few_transactions() {
    let (_folder, path) = folder();
    let store = open(&path);
    run(async {
        turn(&store, "warm", None, &["up"], &[]).await;
        let before = transactions(&path);
        // The writer waits here, as it would for a slow disk.
        let (go, gate) = mpsc::channel::<()>();
        let wait: Question = Box::new(move |_| {
            gate.recv().ok();
        });
        store.writes.send(Write::Ask(wait)).unwrap();
        let mut commits = Vec::new();
        for n in 0..100 {
            let response = begin(&store, &format!("r{n}"), None, &["q"]).await;
            commits.push(store.commit(TENANT, ended(&response, &["a"])));
        }
        go.send(()).unwrap();
        for commit in commits {
            commit.await.unwrap();
        }
        let used = transactions(&path) - before;
        assert!(used <= 3, "{used} transactions for 100 commits");
    });
}

/// The process that dies in the test below; on its own it does nothing.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test tells its child process where to write")]
fn child_that_writes_until_it_is_killed() {
    let Ok(path) = std::env::var("TRILITH_STORE_CHILD") else { return };
    let store = open(Path::new(&path));
    run(async {
        let mut parent: Option<String> = None;
        for n in 0.. {
            let id = format!("r{n}");
            turn(&store, &id, parent.as_deref(), &[&format!("q{n}")], &[&format!("a{n}")]).await;
            println!("\ndone {n}");
            begin(&store, &format!("open{n}"), Some(&id), &["never answered"]).await;
            parent = Some(id);
        }
    });
}

#[test]
fn what_was_confirmed_survives_a_killed_process() {
    let (_folder, path) = folder();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sqlite::tests::files::child_that_writes_until_it_is_killed", "--nocapture"])
        .env("TRILITH_STORE_CHILD", &path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut confirmed = 0;
    while confirmed < 25 {
        let line = lines.next().expect("the child ended early");
        if let Some(n) = line.strip_prefix("done ") {
            confirmed = n.parse().unwrap();
        }
    }
    child.kill().unwrap();
    let last = lines.filter_map(|line| line.strip_prefix("done ")?.parse().ok()).last();
    child.wait().unwrap();
    let confirmed: usize = last.unwrap_or(confirmed);
    let store = open(&path);
    run(async {
        assert!(store.recover(9_000).await.unwrap() >= 1);
        for n in 0..=confirmed {
            let expected: Vec<String> = (0..=n).flat_map(|n| [format!("q{n}"), format!("a{n}")]).collect();
            assert_eq!(context(&store, &format!("r{n}")).await.unwrap(), expected);
        }
        let checked = |connection: &Connection| {
            connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).map_err(read::fail)
        };
        let integrity: String = store.ask(checked).await.unwrap();
        assert_eq!(integrity, "ok");
    });
}
