#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace knell::cli {

/// For the terminal: what a command that no daemon sees left running.  The kernel hands its
/// orphans to us, who adopt_orphans(), so they can at least be named; nobody records or stops them.
struct OrphanSearch {
    pid_t command = 0;          // has ended
    pid_t renewer = 0;          // ours, and about to end
    bool had_children = false;  // others' are among ours: nobody can tell whose they are
    bool should_stop = false;   // --leftovers stop
    std::string_view why;       // the daemon does not look for them itself
};

/// Waits for a moment for those that are about to end.
std::vector<std::string> orphan_lines(const OrphanSearch& search);

}  // namespace knell::cli
