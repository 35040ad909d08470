-- Processes that work in the background for a session, whoever started them.  Rows stay when a process has
-- ended: they are the history.

CREATE TABLE processes (
    number            INTEGER PRIMARY KEY,  -- order in which they came on record
    id                TEXT NOT NULL,
    session_id        TEXT NOT NULL,
    generation        INTEGER NOT NULL,     -- of the session, when it came on record
    task_id           TEXT,
    origin            TEXT NOT NULL,        -- started, registered, leftover
    pid               INTEGER NOT NULL,
    start_ticks       INTEGER NOT NULL,
    pid_ns            INTEGER NOT NULL,
    boot_id           TEXT NOT NULL,
    argv              TEXT,                 -- a word a line; within one, \n is a line feed, \0 a NUL, \\ a backslash
    cwd               TEXT,
    title             TEXT,
    started_at        INTEGER NOT NULL,
    activity          TEXT NOT NULL,        -- what it was last seen doing
    activity_since    INTEGER NOT NULL,
    activity_evidence TEXT,
    stale_since       INTEGER,
    vouched_until     INTEGER,
    stop_asked_at     INTEGER,
    stop_asked_by     TEXT,
    exit_kind         TEXT,                 -- NULL: it runs
    exit_number       INTEGER,              -- exit status or signal
    exit_evidence     TEXT,
    exited_at         INTEGER,
    exited_after      INTEGER,
    exited_before     INTEGER,
    -- No exit without bounds, in order, and no bounds without an exit.
    CHECK ((exit_kind IS NULL) = (exited_at IS NULL)),
    CHECK (exit_kind IS NULL OR coalesce(exited_after <= exited_at AND exited_at <= exited_before, FALSE))
) STRICT;

-- A process is on record once while it runs.
CREATE UNIQUE INDEX processes_by_identity ON processes (pid, start_ticks, pid_ns, boot_id)
    WHERE exit_kind IS NULL;
CREATE UNIQUE INDEX processes_running_by_id ON processes (id) WHERE exit_kind IS NULL;
CREATE INDEX processes_by_id ON processes (id, number);
CREATE INDEX processes_by_session ON processes (session_id, number);
CREATE INDEX processes_running_by_session ON processes (session_id, number) WHERE exit_kind IS NULL;
CREATE INDEX processes_running ON processes (number) WHERE exit_kind IS NULL;
CREATE INDEX processes_exited ON processes (exited_before) WHERE exit_kind IS NOT NULL;

-- Since when one of a session's processes is work that counts.
ALTER TABLE sessions ADD COLUMN background_since INTEGER
    CHECK (background_since IS NULL OR ended_at IS NULL);
CREATE INDEX sessions_background ON sessions (ordinal) WHERE background_since IS NOT NULL;

-- What an event says of a process: the columns of its row as it was, in that order and written as argv is.
ALTER TABLE events ADD COLUMN process TEXT;
