-- Leftovers that were being stopped when the daemon went: the next one finds out what became of
-- them.  In the column a fate stands between two tabs, which no other field may hold.

CREATE INDEX sessions_unsettled ON sessions (ordinal)
    WHERE instr(leftovers, char(9) || 'stopping' || char(9)) > 0;
