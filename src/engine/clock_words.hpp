#pragma once

#include <chrono>
#include <string>

#include <fmt/format.h>

#include "engine/state.hpp"

namespace knell {

/// Why the times of an end are not what the clock on the wall shows, to go behind its evidence.
/// `behind`: by how much it is set back from where they count; `spans_start`: they reach back to
/// before this daemon began.
inline std::string said_of_clock(std::chrono::milliseconds behind, bool spans_start,
                                 const State& state) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(behind);
    if (seconds.count() == 0 && spans_start && state.was_set_back_unseen()) {
        return "; the wall clock was set back while no knell ran, which these times do not show";
    }
    if (seconds.count() == 0) return {};
    return fmt::format("; the wall clock was set back by {} s while it ran, its times go on",
                       seconds.count());
}

}  // namespace knell
