#pragma once

#include <map>
#include <set>

#include "watch/process_tree.hpp"

namespace knell {

/// Of the leftovers of one session, those that daemonised and serve others, and all below them.
/// `command_session` is the terminal session of the command; 0: not known, and then any of them may
/// have left it.
std::set<pid_t> find_shared(const std::map<pid_t, ProcStat>& leftovers, pid_t command_session,
                            const ProcessTree& tree);

}  // namespace knell
