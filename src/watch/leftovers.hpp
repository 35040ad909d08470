#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "core/ids.hpp"
#include "core/leftover.hpp"

namespace knell {

/// What a command started and left behind, as one look over /proc finds it:
/// - its environment holds KNELL_SESSION_ID of this session and KNELL_SOCKET of this daemon
///   (children, nohup, setsid: all inherit them unless they scrub them);
/// - the kernel handed it to `reaper`, the `knell run` of this session, when its parent died
///   (children that scrubbed their environment);
/// - it leads or belongs to the process group or session that the command itself led;
/// - its parent is one of these.
/// The command itself and its wrapper are not leftovers, nor is a knell daemon, which is meant to
/// outlive whoever started it.  Costs one pass over all processes.
struct LeftoverSearch {
    SessionId session_id;
    std::string socket;  // of this daemon
    pid_t command = 0;   // 0: unknown
    pid_t reaper = 0;    // 0: unknown or gone; all its children are taken for the command's
    std::uint64_t command_started = 0;  // start ticks; a later reaper is a stranger under its pid
};
std::vector<Leftover> find_leftovers(LeftoverSearch search);

}  // namespace knell
