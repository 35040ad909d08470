#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace knell {

/// What to do about processes that outlive their session's command.
enum class LeftoversPolicy : std::uint8_t { none, report, stop };
inline constexpr std::array<std::string_view, 3> leftovers_policy_names{"", "report", "stop"};

/// A process that a session's command started and left behind.  Pid and start ticks name it for
/// good: only that one may ever be signalled.
struct Leftover {
    std::int32_t pid = 0;
    std::uint64_t start_ticks = 0;
    std::string found_by;  // how it is known to be ours
    std::string command;

    bool operator==(const Leftover&) const = default;
};

/// One line each, for a column of the store.
std::string to_lines(const std::vector<Leftover>& leftovers);
std::vector<Leftover> leftovers_from_lines(std::string_view lines);

}  // namespace knell
