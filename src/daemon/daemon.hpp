#pragma once

#include <string>
#include <vector>

#include "platform/paths.hpp"
#include "wire/json.hpp"

namespace knell {

struct DaemonOptions {
    Paths paths;
};

/// Runs the daemon in the foreground until it is told to stop.  Gives the exit status; what went
/// wrong has been said on standard error by then.
int run_daemon(const DaemonOptions& options);

/// Reads config.yaml and hooks/ as a daemon would and says what is there and what is wrong:
/// {ok, problems: [{file, line?, message}], webhooks: [names], hooks: [names], remarks: [texts],
/// events: {keep_days, keep_count}, config_file, config_exists, hooks_dir}.  Needs no daemon.
JsonObject check_config(const Paths& paths);

/// The environment variables that config.yaml asks for, such as a webhook's `secret_env`.  None
/// when it cannot be read.
std::vector<std::string> variables_in_config(const Paths& paths);

}  // namespace knell
