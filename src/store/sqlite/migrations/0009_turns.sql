-- How many turns a session has had; those before this was counted are not known.

ALTER TABLE sessions ADD COLUMN turn_count INTEGER NOT NULL DEFAULT 0;
