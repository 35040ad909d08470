#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "foreign/hermes/owners.hpp"
#include "foreign/hermes/records.hpp"

namespace knell::hermes {

/// So many messages make a session trivial at most; none at all make it empty.
inline constexpr std::int64_t trivial_max = 5;
/// Rows that are named one by one; more are counted.
inline constexpr std::size_t census_rows_max = 1000;

struct Share {
    std::int64_t count = 0;
    std::int64_t open = 0;   // without an end
    std::int64_t alive = 0;  // of these
};

/// Without an end and not proven alive, of all; 0 of none.
double leak_rate(const Share& share);

/// One row that is worth a line.
struct NamedRow {
    std::string id;
    std::string source;
    WallTime started_at;
    WallTime last_sign;
    std::int64_t messages = 0;
    Verdict verdict = Verdict::unknown;  // of open rows
    std::string why;                     // the evidence; of others what is wrong with them
};

/// What a store of sessions holds, counted.
struct Census {
    Share all;
    std::map<std::string, std::int64_t> reasons;  // of those that have ended
    std::map<std::string, Share> sources;
    std::int64_t empty = 0;
    std::int64_t trivial = 0;
    std::int64_t substantial = 0;
    std::int64_t messages = 0;
    std::int64_t orphan_messages = 0;   // of sessions that are not there
    std::int64_t orphans = 0;           // whose parent is not there
    std::int64_t broken_lineage = 0;    // what parent and child say does not fit together
    std::int64_t count_mismatches = 0;  // the row counts other messages than there are
    std::int64_t ended_before_start = 0;
    std::int64_t finalized_open = 0;  // closed by the gateway and without an end all the same
    std::array<std::int64_t, verdict_names.size()> verdicts{};
    std::vector<NamedRow> open_rows;  // the latest sign of life first
    std::vector<NamedRow> broken_rows;
    /// By the day a session started, in UTC ("2026-05-18"): those that started since a day.
    std::map<std::string, Share> days;
    std::optional<WallTime> since;  // that day
};

/// Counts row by row.  Pure.
class CensusCount {
  public:
    /// `since`: also count by day, what started then or later.
    explicit CensusCount(std::optional<WallTime> since = {}) { census_.since = since; }

    /// `verdict`: of a row without an end.
    void add(const SessionRow& row, const std::optional<RowVerdict>& verdict);
    Census finish() &&;

  private:
    Census census_;
};

/// What is wrong with how a row and its parent fit together; "" when nothing is.
std::string lineage_fault(const SessionRow& row);

}  // namespace knell::hermes
