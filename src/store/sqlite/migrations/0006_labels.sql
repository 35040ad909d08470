-- What a person writes on a session, and what an event of that says.  Such an event may come after
-- the end of its generation, so an end no longer has the last place there is.

ALTER TABLE sessions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN data TEXT;
UPDATE events SET place = 4611686018427387904 WHERE place = 9223372036854775807;
