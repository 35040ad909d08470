#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/session.hpp"

namespace knell::sqlite {

/// Something in a store that must not be.
struct StoreFault {
    enum class Kind : std::uint8_t {
        message_count,    // a row counts other messages than there are
        message_numbers,  // messages are not numbered without holes
        orphan_messages,  // of a session that is not there
        event_numbers,    // the log has holes
        ends,             // a generation has two ends, or is open though its end was told
        no_reason,        // ended without one
        damage            // of the file itself
    };
    Kind kind = Kind::damage;
    std::string session_id;  // "": of none
    std::string what;

    /// What is wrong follows from what is right.
    bool is_repairable() const { return kind == Kind::message_count; }
};
inline constexpr std::array<std::string_view, 7> store_fault_names{
    "message_count", "message_numbers", "orphan_messages", "event_numbers",
    "ends",          "no_reason",       "damage"};

/// What a store holds, counted.
struct StoreCensus {
    static constexpr std::size_t rows_max = 1000;  // that are named; all are counted

    int schema = 0;
    std::int64_t bytes = 0;
    std::int64_t free_bytes = 0;  // of these, in pages that hold nothing
    std::int64_t sessions = 0;
    std::int64_t open = 0;
    std::map<std::pair<std::string, std::string>, std::int64_t> ends;  // by reason and proof
    struct Source {
        std::int64_t sessions = 0;
        std::int64_t open = 0;
    };
    std::map<std::string, Source> sources;
    std::int64_t commands = 0;  // of `knell run`: no messages of theirs are here
    std::int64_t empty = 0;     // of the others
    std::int64_t trivial = 0;
    std::int64_t substantial = 0;
    std::int64_t messages = 0;
    std::int64_t events = 0;
    std::int64_t orphans = 0;  // whose parent is not on record
    std::vector<Session> open_rows;
    std::int64_t fault_count = 0;
    std::vector<StoreFault> faults;
};

/// Reads the store at `path` beside whoever writes to it, as it is at one moment.
Result<StoreCensus> take_census(const std::string& path);

/// Makes right what follows from the rest, in one transaction, after a copy of the store was made
/// beside it.  The caller holds the lock that keeps daemons away.
struct StoreRepair {
    std::int64_t rows = 0;
    std::string backup;  // "": nothing was to be done
};
Result<StoreRepair> repair_store(const std::string& path, WallTime now);

}  // namespace knell::sqlite
