#pragma once

#include "platform/paths.hpp"

namespace knell {

struct DaemonOptions {
    Paths paths;
};

/// Runs the daemon in the foreground until it is told to stop.  Gives the exit status; what went
/// wrong has been said on standard error by then.
int run_daemon(const DaemonOptions& options);

}  // namespace knell
