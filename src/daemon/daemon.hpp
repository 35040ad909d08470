#pragma once

#include <cstdint>
#include <string>

#include "platform/paths.hpp"
#include "wire/config_report.hpp"

namespace knell {

struct DaemonOptions {
    Paths paths;
    std::string http_listen = {};  // instead of http.listen of the config; "": as that says
};

/// Runs the daemon in the foreground until it is told to stop.  Gives the exit status; what went
/// wrong has been said on standard error by then.
int run_daemon(const DaemonOptions& options);

/// Whose environment this process has.
enum class Environment : std::uint8_t { daemons, callers };

/// Reads config.yaml and hooks/ as a daemon would and says what is there and what is wrong.  Needs
/// no daemon.  A secret passes when it can sign; one in a variable only the daemon can look at.
ConfigReport check_config(const Paths& paths, Environment environment);

}  // namespace knell
