-- What a person writes on a session, and what an event of that says.

ALTER TABLE sessions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN data TEXT;
