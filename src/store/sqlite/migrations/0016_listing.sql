-- The open sessions of a source, however many it has had; how many sessions a list leaves out.

CREATE INDEX sessions_by_source_open ON sessions (source, ordinal) WHERE ended_at IS NULL;
CREATE INDEX sessions_folded ON sessions (fold, ended_at) WHERE fold <> 0;
