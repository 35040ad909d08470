#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "core/end.hpp"
#include "core/end_path.hpp"

namespace knell {

/// How a process owner went, as far as something that survived it could see.
struct Departure {
    enum class Kind : std::uint8_t {
        exited,        // `number` is the exit code
        signaled,      // `number` is the signal
        oom_killed,    // the kernel says why it sent SIGKILL
        lost,          // gone, nobody saw how
        host_restart,  // the boot it lived in is over
        stopped        // it is the daemon itself, stopping on request
    };
    Kind kind = Kind::lost;
    int number = 0;
    std::string evidence;
    /// When it was seen, on the boot clock of the daemon that saw it: the bounds of the end come
    /// from here, however late it is written and whatever the wall clock does meanwhile.
    std::optional<SteadyTime> last_look;  // still there then; none: this daemon never saw it there
    std::optional<SteadyTime> seen_at;    // gone by then; none: it is being said right now

    bool operator==(const Departure&) const = default;
};

/// The way to an end that a departure is for its sessions.  `is_command`: the session is one
/// command (`knell run`), whose exit status 0 is its own word that it completed.
EndPath path_for(const Departure& departure, bool is_command);

/// The reason that way gives.
Reason reason_for(const Departure& departure, bool is_command);

/// "exit 3", "signal 9 (SIGKILL)": the same words for every observer.
std::string detail_for(const Departure& departure);

}  // namespace knell
