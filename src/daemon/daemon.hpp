#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/error.hpp"
#include "platform/paths.hpp"
#include "wire/config_report.hpp"

namespace knell {

struct DaemonOptions {
    Paths paths;
    std::string http_listen = {};  // instead of http.listen of the config; "": as that says
    bool is_strict = false;        // a config.yaml with an error in it keeps it from starting
};

/// Runs the daemon in the foreground until it is told to stop.  Gives the exit status; what went
/// wrong has been said on standard error by then.
int run_daemon(const DaemonOptions& options);

/// Whose environment this process has.
enum class Environment : std::uint8_t { daemons, callers };

/// Reads config.yaml and hooks/ as a daemon would, or another file or text, and says what is there
/// and what is wrong.  Needs no daemon.  A secret passes when it can sign; one in a variable only
/// the daemon can look at.
ConfigReport check_config(const ConfigQuestion& what, const Paths& paths, Environment environment);

/// How a hook took an event that never happened.
struct HookTry {
    bool delivered = false;
    std::chrono::milliseconds took{0};
    std::string what;    // went wrong
    std::string output;  // what it wrote
};
/// Runs a hook once, as a daemon would, from this process and with its environment.  Needs no
/// daemon, and waits for the end of the run.
Result<HookTry> try_hook(const Paths& paths, const std::string& name);

/// The file that holds the last ten runs of a hook with what it wrote, for people; there is none
/// before the first.
std::string hook_runs_file(const Paths& paths, const std::string& name);

}  // namespace knell
