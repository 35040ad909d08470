#include "daemon/process_setup.hpp"

#include <csignal>

#include <sys/prctl.h>

#include "daemon/housekeeping.hpp"
#include "platform/heap.hpp"
#include "platform/log.hpp"

namespace knell {

void set_up_process(const Paths& paths) {
    // Of a detached daemon, which runs /proc/self/exe, it would be "exe".
    prctl(PR_SET_NAME, "knell");
    hold_hangup();
    give_large_blocks_back();
    // A file that may not grow any more (`ulimit -f`) is then an error as on a full disk; by
    // default the first write past the limit kills, be it a line of the log.
    std::signal(SIGXFSZ, SIG_IGN);
    keep_log_file(paths.log_file);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGCHLD, SIG_DFL);  // ignored, the exit status of hooks would be lost
}

}  // namespace knell
