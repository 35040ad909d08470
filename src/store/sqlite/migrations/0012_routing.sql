-- What routing and resets need: when somebody last said something, what holds a reset back, and what a session was compressed into.

ALTER TABLE sessions ADD COLUMN chat_type TEXT;
ALTER TABLE sessions ADD COLUMN last_interaction_at INTEGER;
ALTER TABLE sessions ADD COLUMN successor_id TEXT;
ALTER TABLE sessions ADD COLUMN summary_lost INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN key_taken INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN suspended_at INTEGER;
ALTER TABLE sessions ADD COLUMN suspend_why TEXT;
ALTER TABLE sessions ADD COLUMN reset_held_since INTEGER;
ALTER TABLE sessions ADD COLUMN reset_held_by TEXT;
-- With the relation: a session may have thousands of sub-agents and one that goes on for it.
CREATE INDEX sessions_by_parent ON sessions (parent_id, relation, ordinal) WHERE parent_id IS NOT NULL;

ALTER TABLE events ADD COLUMN blockers TEXT;
ALTER TABLE events ADD COLUMN compression TEXT;
