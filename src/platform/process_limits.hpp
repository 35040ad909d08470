#pragma once

#include <string>
#include <vector>

namespace knell {

/// Undoes what a process got from the shell that happened to start it, as far as the system lets
/// us: niceness, I/O priority, scheduling policy, CPU affinity, the OOM killer's preference, and
/// limits on memory, CPU time, file size and descriptors (the soft limit becomes the hard one, and
/// where we may the hard one goes).  Core dumps stay off: they would hold what sessions said.
/// Of a child, before it executes: system calls alone.
void reset_process_limits();

/// What still holds this process back, one sentence each: "runs at niceness 10".  Empty when
/// nothing does.  `with_priority`: what was reset above counts too; of a process in the foreground
/// that is the choice of whoever started it.
std::vector<std::string> describe_process_limits(bool with_priority);

}  // namespace knell
