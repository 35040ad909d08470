#pragma once

#include "core/error.hpp"
#include "core/session.hpp"
#include "store/batch.hpp"

namespace knell {

/// What a change makes of the row of its session.  This is what a change means: the memory store
/// calls it, and SQL, which says the same in its own words, is held to it by a test
/// (tests/conformance/apply_test).  `row` is the one the change was decided for; of Opened, which
/// makes its row, whatever it is.
void apply(Session& row, const Change& change);

/// The row of a change, and the generation that must stand in it.  Nothing: Opened makes its row.
const SessionRef* ref_of(const Change& change);

/// Whether `row` is what the change was decided for: the WHERE clause of its statement.
bool fits(const Session& row, const Change& change);

/// The answer to a change that does not fit: `fenced`, and what stands there; none: no row.
Error conflict_of(const Change& change, const Session* row);

}  // namespace knell
