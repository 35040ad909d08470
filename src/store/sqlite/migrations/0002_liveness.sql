-- What is known of owners beyond their name, and what they left behind.

ALTER TABLE sessions ADD COLUMN park_window_s INTEGER;
ALTER TABLE sessions ADD COLUMN leftovers_policy TEXT;   -- report, stop; NULL: not one command
ALTER TABLE sessions ADD COLUMN leftovers TEXT;          -- of an end: pid, ticks, how found, command
ALTER TABLE sessions ADD COLUMN last_seen_at INTEGER;    -- flushed about once a minute
ALTER TABLE sessions ADD COLUMN unknown_since INTEGER;
ALTER TABLE sessions ADD COLUMN stalled_since INTEGER;
ALTER TABLE sessions ADD COLUMN parked_since INTEGER;

-- What is open and not folded away, however many sub-agents and cron jobs are open beside it.
CREATE INDEX sessions_open_shown ON sessions (ordinal) WHERE ended_at IS NULL AND fold = 0;
CREATE INDEX sessions_by_source_ended ON sessions (source, ordinal) WHERE ended_at IS NOT NULL;
CREATE INDEX sessions_unknown ON sessions (ordinal) WHERE unknown_since IS NOT NULL;
CREATE INDEX sessions_stalled ON sessions (ordinal) WHERE stalled_since IS NOT NULL;
CREATE INDEX sessions_parked ON sessions (ordinal) WHERE parked_since IS NOT NULL;

-- Always empty: the table refuses such a row.  That is what makes counting it free.
CREATE INDEX sessions_leaked ON sessions (ordinal) WHERE ended_at IS NOT NULL AND reason IS NULL;

ALTER TABLE events ADD COLUMN leftovers TEXT;

-- Ends by reason and hour, counted as they are written: a week's figures without reading a week.
CREATE TABLE end_counts (
    hour   INTEGER NOT NULL,                             -- hours since 1970 in UTC
    reason TEXT NOT NULL,
    ends   INTEGER NOT NULL,
    PRIMARY KEY (hour, reason)
) STRICT, WITHOUT ROWID;
