-- What agent:stuck tells beside the words.

ALTER TABLE events ADD COLUMN stuck TEXT;
