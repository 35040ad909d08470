-- By when the owner of a parked session was gone, and how it went; of what is parked already nobody wrote it down.

ALTER TABLE sessions ADD COLUMN parked_before INTEGER;
ALTER TABLE sessions ADD COLUMN park_why TEXT;
