-- Everything on record.  Times are milliseconds since 1970 in UTC; words are spelled as on the wire;
-- NULL means "not given".

CREATE TABLE node (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    ordinal           INTEGER PRIMARY KEY,  -- order of creation on this node
    id                TEXT NOT NULL,
    key               TEXT,
    source            TEXT NOT NULL,
    platform          TEXT,
    user_id           TEXT,
    parent_id         TEXT,
    relation          TEXT,
    model             TEXT,
    title             TEXT,
    cwd               TEXT,
    meta              TEXT,
    generation        INTEGER NOT NULL,
    owner_kind        TEXT NOT NULL,
    owner_pid         INTEGER,
    owner_start_ticks INTEGER,
    owner_pid_ns      INTEGER,
    owner_boot_id     TEXT,
    owner_lease_ttl_s INTEGER,
    owner_host        TEXT,
    owner_since       INTEGER NOT NULL,
    on_owner_loss     TEXT NOT NULL,
    started_at        INTEGER NOT NULL,
    last_activity_at  INTEGER NOT NULL,
    message_count     INTEGER NOT NULL,
    input_tokens      INTEGER NOT NULL,
    output_tokens     INTEGER NOT NULL,
    turn_since        INTEGER,
    fold              INTEGER NOT NULL,     -- 0 shown, 1 folded by origin, 2 folded because empty
    ended_at          INTEGER,
    ended_after       INTEGER,
    ended_before      INTEGER,
    reason            TEXT,
    detail            TEXT,
    evidence          TEXT,
    -- No end without a reason and bounds, and no reason without an end.
    CHECK ((ended_at IS NULL) = (reason IS NULL)),
    CHECK (ended_at IS NULL OR (ended_after <= ended_at AND ended_at <= ended_before)),
    CHECK (ended_at IS NULL OR turn_since IS NULL)
) STRICT;

CREATE UNIQUE INDEX sessions_by_id ON sessions (id);
CREATE INDEX sessions_by_source ON sessions (source, ordinal);
CREATE INDEX sessions_by_key ON sessions (key, ordinal) WHERE key IS NOT NULL;
CREATE INDEX sessions_open ON sessions (ordinal) WHERE ended_at IS NULL;
CREATE INDEX sessions_ended ON sessions (ordinal) WHERE ended_at IS NOT NULL;
CREATE INDEX sessions_ended_shown ON sessions (ordinal) WHERE ended_at IS NOT NULL AND fold <> 1;
CREATE INDEX sessions_running ON sessions (ordinal) WHERE turn_since IS NOT NULL;
CREATE INDEX sessions_shown ON sessions (ordinal) WHERE fold = 0;

CREATE TABLE messages (
    session   INTEGER NOT NULL REFERENCES sessions (ordinal),
    number    INTEGER NOT NULL,             -- 1, 2, 3 … within the session
    at        INTEGER NOT NULL,
    role      TEXT NOT NULL,
    content   TEXT NOT NULL,
    tool_name TEXT,
    tokens    INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX messages_by_session ON messages (session, number);

CREATE TABLE events (
    seq           INTEGER PRIMARY KEY,
    type          TEXT NOT NULL,
    time          INTEGER NOT NULL,
    session_id    TEXT,
    generation    INTEGER,
    place         INTEGER,                  -- start 0, end last, all else its seq
    session_key   TEXT,
    platform      TEXT,
    user_id       TEXT,
    source        TEXT,
    parent_id     TEXT,
    relation      TEXT,
    started_at    INTEGER,
    message_count INTEGER,
    input_tokens  INTEGER,
    output_tokens INTEGER,
    ended_at      INTEGER,
    ended_after   INTEGER,
    ended_before  INTEGER,
    reason        TEXT,
    detail        TEXT,
    evidence      TEXT
) STRICT;

-- One start and one end for each generation, held by the store itself; also finds the events of a
-- session, in order.
CREATE UNIQUE INDEX events_by_session ON events (session_id, generation, place)
    WHERE session_id IS NOT NULL;
