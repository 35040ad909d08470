#pragma once

#include <cstdint>
#include <string>

#include "platform/paths.hpp"
#include "wire/json.hpp"

namespace knell {

struct DaemonOptions {
    Paths paths;
};

/// Runs the daemon in the foreground until it is told to stop.  Gives the exit status; what went
/// wrong has been said on standard error by then.
int run_daemon(const DaemonOptions& options);

/// Whose environment this process has.
enum class Environment : std::uint8_t { daemons, callers };

/// Reads config.yaml and hooks/ as a daemon would and says what is there and what is wrong:
/// {ok, problems: [{file, line?, column?, message}], webhooks: [names], hooks: [names],
/// remarks: [texts], events: {keep_days, keep_count}, config_file, config_exists, hooks_dir}. Needs
/// no daemon.  A secret passes when it can sign; one in a variable only the daemon can look at.
JsonObject check_config(const Paths& paths, Environment environment);

}  // namespace knell
