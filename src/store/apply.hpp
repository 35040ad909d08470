#pragma once

#include "core/background_process.hpp"
#include "core/error.hpp"
#include "core/session.hpp"
#include "store/batch.hpp"

namespace knell {

/// What a change makes of its row, of a session or of a background process.  This is what a change
/// means: the memory store calls it, and SQL, which says the same in its own words, is held to it
/// by a test (tests/conformance/apply_test).  `row` is the one the change was decided for; of
/// Opened and ProcessOpened, which make their row, whatever it is.
void apply(Session& row, const Change& change);
void apply(BackgroundProcess& row, const Change& change);

/// The row of a change to a session, and the generation that must stand in it.  Nothing: Opened
/// makes its row, and others are of a process.
const SessionRef* ref_of(const Change& change);

/// The row of a change to a process.  Nothing: ProcessOpened makes its row, and others are of a
/// session.
const ProcessRef* process_ref_of(const Change& change);

/// Whether a change is to a process; otherwise it is to a session.
bool is_of_process(const Change& change);

/// Whether `row` is what the change was decided for: the WHERE clause of its statement.
bool fits(const Session& row, const Change& change);
bool fits(const BackgroundProcess& row, const Change& change);

/// The answer to a change that does not fit: `fenced`, and what stands there; none: no row.
Error conflict_of(const Change& change, const Session* row);
Error conflict_of(const Change& change, const BackgroundProcess* row);

}  // namespace knell
