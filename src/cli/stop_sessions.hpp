#pragma once

#include <string>
#include <vector>

#include "cli/stop_processes.hpp"

namespace knell::cli {

/// Stops the processes of sessions and waits until their end is on record.  Says how it went, in
/// `results` too; gives the exit status.
int stop_sessions(client::Connection& connection, const std::vector<std::string>& names,
                  const StopOptions& options, JsonArray& results);

}  // namespace knell::cli
