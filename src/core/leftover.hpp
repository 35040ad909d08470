#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/background_process.hpp"
#include "core/ids.hpp"
#include "core/owner.hpp"

namespace knell {

/// What to do about processes that outlive their session's command.
enum class LeftoversPolicy : std::uint8_t { none, report, stop };
inline constexpr std::array<std::string_view, 3> leftovers_policy_names{"", "report", "stop"};

/// What became of a leftover.
enum class Fate : std::uint8_t {
    unknown,     // recorded by a version that did not say
    stopping,    // it is being stopped; how that ends is recorded when it is known
    gone,        // it ended by itself, just after the command
    stopped,     // it ended after SIGTERM
    killed,      // it ended after SIGKILL
    left,        // it was left running
    shared,      // it serves others too, so nobody may stop it for this session
    handed_over  // it belongs to the session that goes on in place of this one
};
inline constexpr std::array<std::string_view, 8> fate_names{
    "", "stopping", "gone", "stopped", "killed", "left", "shared", "handed_over"};

/// A process that a session's command started and left behind.  Its full identity names it for
/// good: only that one may ever be signalled.
struct Leftover {
    ProcessIdentity process;
    std::string found_by;  // how it is known to be the session's
    std::string command;
    Fate fate = Fate::unknown;
    ProcessId process_id{};  // of one that is on record as a background process

    bool operator==(const Leftover&) const = default;
};

/// What one session's command left behind.
struct FoundLeftovers {
    SessionId session_id;
    std::vector<Leftover> leftovers;

    bool operator==(const FoundLeftovers&) const = default;
};

/// Whether the fate of any of them is still to be recorded.
bool has_unsettled(const std::vector<Leftover>& leftovers);

/// One line each, for a column of the store.
std::string to_lines(const std::vector<Leftover>& leftovers);
std::vector<Leftover> leftovers_from_lines(std::string_view lines);

}  // namespace knell
