-- A chain of responses is a log with branches. A segment is an append-only list of items, with the place in
-- another segment that it goes on from. A response is a window on a segment: its input is in_from..in_to, its
-- output in_to..out_to, and its context is everything before in_from, up through the fork points.
-- Nothing is copied when a chain grows.

CREATE TABLE tenant (
    tid  INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

CREATE TABLE segment (
    sid        INTEGER PRIMARY KEY,
    tid        INTEGER NOT NULL REFERENCES tenant,
    parent_sid INTEGER REFERENCES segment,
    parent_pos INTEGER,
    -- How many items it holds: they lie at 0..tip.
    tip        INTEGER NOT NULL DEFAULT 0,
    -- Whether its end still holds items that nothing needs any more; the next sweep goes on with them.
    loose      INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX segment_parent ON segment (parent_sid, parent_pos) WHERE parent_sid IS NOT NULL;
CREATE INDEX segment_loose ON segment (loose) WHERE loose = 1;

-- With a rowid on purpose: in a tree by (sid, pos) a row of 1 KB already spills into a page of its own, and
-- every branch that grows touches another page.
CREATE TABLE item (
    sid     INTEGER NOT NULL REFERENCES segment,
    pos     INTEGER NOT NULL,
    item_id TEXT NOT NULL,
    body    BLOB NOT NULL,
    PRIMARY KEY (sid, pos)
);

-- Everything about a request that is not an item; responses that equal in it share one row.
CREATE TABLE settings (
    hash BLOB PRIMARY KEY,
    body BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE response (
    rid           INTEGER PRIMARY KEY,
    tid           INTEGER NOT NULL REFERENCES tenant,
    id            TEXT NOT NULL,
    -- Within a segment each response goes on from the one with the next lower rid.
    sid           INTEGER NOT NULL REFERENCES segment,
    in_from       INTEGER NOT NULL,
    in_to         INTEGER NOT NULL,
    out_to        INTEGER NOT NULL,
    prev_id       TEXT,
    status        TEXT NOT NULL,
    settings_hash BLOB NOT NULL REFERENCES settings,
    body          BLOB NOT NULL,
    created_at    INTEGER NOT NULL,
    ended_at      INTEGER,
    expires_at    INTEGER NOT NULL,
    UNIQUE (tid, id)
);
CREATE INDEX response_segment ON response (sid);
CREATE INDEX response_settings ON response (settings_hash);
CREATE INDEX response_running ON response (status) WHERE status IN ('queued', 'in_progress');
CREATE INDEX response_expiry ON response (expires_at);
