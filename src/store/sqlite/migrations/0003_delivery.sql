-- How far each subscriber is, and what it could not be given yet.

CREATE TABLE subscriptions (
    name             TEXT PRIMARY KEY,
    cursor           INTEGER NOT NULL,
    state            TEXT NOT NULL,
    since            INTEGER NOT NULL,
    delivered        INTEGER NOT NULL,
    failures         INTEGER NOT NULL,
    lost             INTEGER NOT NULL,
    last_delivery_at INTEGER,
    last_failure_at  INTEGER,
    last_error       TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE letters (
    subscriber  TEXT NOT NULL REFERENCES subscriptions (name),
    seq         INTEGER NOT NULL,
    state       TEXT NOT NULL,                       -- waiting, dead
    attempts    INTEGER NOT NULL,
    waited_ms   INTEGER NOT NULL,                    -- between attempts
    next_try_at INTEGER NOT NULL,
    last_error  TEXT,
    id          TEXT NOT NULL,
    type        TEXT NOT NULL,
    time        TEXT NOT NULL,                       -- as it was told
    session_id  TEXT,
    event       TEXT NOT NULL                        -- whole: the log may let go of it
) STRICT;

CREATE UNIQUE INDEX letters_by_subscriber ON letters (subscriber, state, seq);
