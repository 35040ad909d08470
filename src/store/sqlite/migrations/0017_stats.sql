-- What happened by hour and source, counted as it is written: a year's figures without reading a year.

CREATE TABLE source_counts (
    hour          INTEGER NOT NULL,                      -- hours since 1970 in UTC
    source        TEXT NOT NULL,
    starts        INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    PRIMARY KEY (hour, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE source_ends (
    hour   INTEGER NOT NULL,
    source TEXT NOT NULL,
    reason TEXT NOT NULL,
    ends   INTEGER NOT NULL,
    PRIMARY KEY (hour, source, reason)
) STRICT, WITHOUT ROWID;

-- Of before: what the log and the messages still say.  A sum that does not fit stays at the highest there is.
INSERT INTO source_counts
SELECT hour, source, sum(starts), CAST(total(input) AS INTEGER), CAST(total(output) AS INTEGER)
FROM (SELECT time / 3600000 AS hour, source, 1 AS starts, 0 AS input, 0 AS output
      FROM events WHERE type = 'session:start' AND source IS NOT NULL
      UNION ALL
      SELECT at / 3600000, source, 0, iif(role = 'assistant', 0, tokens), iif(role = 'assistant', tokens, 0)
      FROM messages CROSS JOIN sessions ON ordinal = session WHERE tokens > 0)
GROUP BY hour, source;

INSERT INTO source_ends
SELECT time / 3600000, source, reason, count(*)
FROM events WHERE type = 'session:end' AND source IS NOT NULL AND reason IS NOT NULL
GROUP BY 1, 2, 3;

CREATE INDEX sessions_imported ON sessions (started_at, source) WHERE reason = 'imported';
