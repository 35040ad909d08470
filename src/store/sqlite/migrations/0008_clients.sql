-- Which clients look at a session.

ALTER TABLE sessions ADD COLUMN attached INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN attach_told INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN detached_since INTEGER;
