-- How an end is known follows from who saw it; time is counted by what was seen to pass.

ALTER TABLE sessions ADD COLUMN proof TEXT;              -- of an end; NULL: what its reason usually has
ALTER TABLE sessions ADD COLUMN lease_from INTEGER;      -- its lease or park window runs from there, in listened ms
ALTER TABLE sessions ADD COLUMN former_owners TEXT;      -- of earlier generations: pid, ticks, namespace, boot
ALTER TABLE events ADD COLUMN proof TEXT;

-- When each daemon began, in milliseconds in which some daemon listened: after a restart a lease has
-- its full time again, but not after every restart.
CREATE TABLE lives (
    began_ms INTEGER PRIMARY KEY
) STRICT;

-- The newest event at some moments, and how much time had passed by then as this node saw it.  Events
-- are let go of by that, not by what the clock said.
CREATE TABLE log_marks (
    seq    INTEGER PRIMARY KEY,
    age_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE end_counts_by_proof (
    hour   INTEGER NOT NULL,                             -- hours since 1970 in UTC
    reason TEXT NOT NULL,
    proof  TEXT NOT NULL,
    ends   INTEGER NOT NULL,
    PRIMARY KEY (hour, reason, proof)
) STRICT, WITHOUT ROWID;

INSERT INTO end_counts_by_proof
SELECT hour, reason,
       CASE WHEN reason IN ('completed', 'manual_reset', 'compression', 'branched', 'superseded', 'shutdown')
            THEN 'declared'
            WHEN reason IN ('auto_reset', 'idle_expiry', 'daily_reset', 'detached_expiry') THEN 'policy'
            WHEN reason IN ('reaped', 'node_lost', 'imported') THEN 'inferred'
            ELSE 'observed' END,
       ends
FROM end_counts;
DROP TABLE end_counts;
ALTER TABLE end_counts_by_proof RENAME TO end_counts;
