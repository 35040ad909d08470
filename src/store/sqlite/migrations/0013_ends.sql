-- The latest ends, whenever their sessions were opened.  The rowid, which is the ordinal, is part of
-- every index.

CREATE INDEX sessions_by_end ON sessions (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX sessions_by_end_shown ON sessions (ended_at) WHERE ended_at IS NOT NULL AND fold = 0;
