//! Databases of earlier versions.

use super::*;
use crate::codec;

/// A database as the first version left it: a chain of two responses of one tenant, one response of another.
fn first_version(path: &Path) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(migrate::STEPS[0]).unwrap();
    connection.pragma_update(None, "application_id", 0x546c_7468).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    connection
        .execute_batch(
            "INSERT INTO tenant VALUES (1, 'acme'), (2, 'other');
             INSERT INTO segment (sid, tid, tip) VALUES (1, 1, 4), (2, 2, 1);",
        )
        .unwrap();
    for (sid, pos, text) in [(1, 0, "q1"), (1, 1, "a1"), (1, 2, "q2"), (1, 3, "a2"), (2, 0, "theirs")] {
        let body = codec::encode(&said(Role::User, text));
        connection
            .execute(
                "INSERT INTO item (sid, pos, item_id, body) VALUES (?1, ?2, ?3, ?4)",
                (sid, pos, text, body),
            )
            .unwrap();
    }
    connection
        .execute("INSERT INTO settings VALUES (x'00', ?1)", [codec::encode(&Settings::default())])
        .unwrap();
    let body = codec::encode(&codec::StoredResponse::default());
    for (rid, tid, id, sid, from) in [(1, 1, "r1", 1, 0), (2, 1, "r2", 1, 2), (3, 2, "r3", 2, 0)] {
        let out = if sid == 1 { from + 2 } else { 1 };
        connection
            .execute(
                "INSERT INTO response (rid, tid, id, sid, in_from, in_to, out_to, status, settings_hash, body,
                     created_at, expires_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?5 + 1, ?6, 'completed', x'00', ?7, 1000, 9000)",
                (rid, tid, id, sid, from, out, &body),
            )
            .unwrap();
    }
}

#[test]
fn a_database_of_the_first_version_is_upgraded_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    first_version(&path);
    for _ in 0..2 {
        let store = Sqlite::open(&path, Sync::Normal, 30).unwrap();
        run(async {
            assert_eq!(context(&store, "r2").await.unwrap(), ["q1", "a1", "q2", "a2"]);
            let found = store.items(TENANT, vec!["a1".into(), "theirs".into()]).await.unwrap();
            assert_eq!(
                found.iter().map(|item| item.as_ref().map(text_of)).collect::<Vec<_>>(),
                [Some("a1"), None]
            );
        });
    }
    let store = Sqlite::open(&path, Sync::Normal, 30).unwrap();
    run(async {
        turn(&store, "r4", Some("r2"), &["q4"], &["a4"]).await;
        assert_eq!(context(&store, "r4").await.unwrap(), ["q1", "a1", "q2", "a2", "q4", "a4"]);
        for id in ["r1", "r2", "r4"] {
            assert!(store.delete(TENANT, id).await.unwrap());
        }
        assert_eq!(rows(&store, "item").await, 1);
    });
}
