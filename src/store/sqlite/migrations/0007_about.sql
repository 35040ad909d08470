-- What an event says of its session besides: what it is called, where it works, what runs and where.

ALTER TABLE sessions ADD COLUMN owner_command TEXT;
ALTER TABLE events ADD COLUMN title TEXT;
ALTER TABLE events ADD COLUMN cwd TEXT;
ALTER TABLE events ADD COLUMN command TEXT;
ALTER TABLE events ADD COLUMN host TEXT;
ALTER TABLE events ADD COLUMN pid INTEGER;
-- What a session:update said of the title stood in its data alone.
UPDATE events SET title = nullif(substr(data, instr(data, ' ') + 1), '') WHERE data IS NOT NULL;
