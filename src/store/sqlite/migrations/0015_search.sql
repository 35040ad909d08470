-- Search over messages.  Each gets a number of its own, in the order on record: the index goes by it, so
-- it is never given twice, not even after the newest message was deleted, and no VACUUM changes it.

CREATE TABLE numbered_messages (
    doc       INTEGER PRIMARY KEY AUTOINCREMENT,
    session   INTEGER NOT NULL REFERENCES sessions (ordinal),
    number    INTEGER NOT NULL,             -- 1, 2, 3 … within the session
    at        INTEGER NOT NULL,
    role      TEXT NOT NULL,
    content   TEXT NOT NULL,
    tool_name TEXT,
    tokens    INTEGER NOT NULL
) STRICT;
INSERT INTO numbered_messages (session, number, at, role, content, tool_name, tokens)
SELECT session, number, at, role, content, tool_name, tokens FROM messages ORDER BY rowid;
DROP TABLE messages;
ALTER TABLE numbered_messages RENAME TO messages;
CREATE UNIQUE INDEX messages_by_session ON messages (session, number);

-- The words of the messages up to `through`; the texts stay in messages.  "knell" is the program's own
-- way to take a text apart (core/words): another one cannot read or write this table.
CREATE VIRTUAL TABLE messages_fts USING fts5 (
    content, content = 'messages', content_rowid = 'doc', tokenize = 'knell'
);
-- Levels are merged as they are written, a little at a time; never all of one at once.
INSERT INTO messages_fts (messages_fts, rank) VALUES ('crisismerge', 1000);
CREATE TABLE message_index (through INTEGER NOT NULL) STRICT;
INSERT INTO message_index VALUES (0);

-- Deleted since, and still in the index: to take a text out of it, it must be known.  Whoever deletes
-- messages need not think of it.
CREATE TABLE deleted_messages (
    doc     INTEGER PRIMARY KEY,
    content TEXT NOT NULL
) STRICT;
CREATE TRIGGER messages_deleted AFTER DELETE ON messages
WHEN old.doc <= (SELECT through FROM message_index) BEGIN
    INSERT INTO deleted_messages VALUES (old.doc, old.content);
END;
