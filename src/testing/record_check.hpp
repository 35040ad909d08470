#pragma once

#include <string>
#include <vector>

#include "store/store.hpp"

namespace knell::testing {

/// Everything on record, read page by page as a client would.
struct Record {
    std::vector<Session> sessions;           // newest first
    std::vector<ProcessOnRecord> processes;  // newest first
    std::vector<Event> events;
};
Result<Record> read_record(Reader& reader);

/// The promises that can be read off a store, each broken one as a sentence: event numbers without
/// holes, one start and at most one end for each generation and in that order, an end on record
/// exactly where an end was told, with the same reason, counts that equal the stored messages; each
/// background process once while it runs, with one start told and its exit exactly as it was told.
std::vector<std::string> broken_promises(Reader& reader);

}  // namespace knell::testing
