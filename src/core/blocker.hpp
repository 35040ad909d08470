#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/background_process.hpp"

namespace knell {

/// A background process that a reset has to do with: it holds one back, or runs on after one.
struct Blocker {
    ProcessId process_id;
    std::int32_t pid = 0;
    std::string command;
    WallTime started_at;
    ProcessActivity activity = ProcessActivity::working;
    std::optional<WallTime> vouched_until;
    /// Until when it can hold a reset that comes by policy, at the longest; none: it cannot.
    std::optional<WallTime> until;

    bool operator==(const Blocker&) const = default;
};

/// One line each, for a column of the store.
std::string to_lines(const std::vector<Blocker>& blockers);
std::vector<Blocker> blockers_from_lines(std::string_view lines);

}  // namespace knell
