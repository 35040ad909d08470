#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "core/end.hpp"
#include "core/event.hpp"
#include "core/session.hpp"

namespace knell {

/// What happened to the sessions of one source on one day, in UTC.  Counted as it was written down:
/// what is deleted later still counts.
struct DayStats {
    std::int64_t starts = 0;  // generations that were opened
    std::map<Reason, std::int64_t> ends;
    std::int64_t input_tokens = 0;
    std::int64_t output_tokens = 0;
    /// Of those that were opened that day, how many have no end that anybody saw: their owner
    /// cannot be checked now, or they were imported as such.
    std::int64_t leaked = 0;

    bool operator==(const DayStats&) const = default;
};

/// A sum that does not fit stays at the highest there is.
void add_up(std::int64_t& sum, std::int64_t more);
void count_tokens(DayStats& counts, const Message& message);
/// A start or an end; nothing else counts.
void count_event(DayStats& counts, const Event& event);

struct Stats {
    /// By the days since 1970, and by source.
    std::map<std::pair<std::int64_t, std::string>, DayStats> days;

    bool operator==(const Stats&) const = default;
};

constexpr std::int64_t milliseconds_an_hour = 3'600'000;
constexpr std::int64_t hours_a_day = 24;
inline std::int64_t hour_of(WallTime time) {
    return to_millis(time) / milliseconds_an_hour;
}

}  // namespace knell
