#pragma once

#include <string>
#include <vector>

#include "client/connection.hpp"

namespace knell::cli {

/// What `knell stop` was told, for all that it stops.
struct StopOptions {
    std::string all_of_session;  // all background processes of this session; "": those named
    bool asks = false;
    bool dry_run = false;
    bool no_wait = false;
    bool json = false;
};

/// Stops background processes and waits until they are gone with all that belongs to them.  Says
/// how it went, in `results` too; gives the exit status.
int stop_processes(client::Connection& connection, std::vector<std::string> ids,
                   const StopOptions& options, JsonArray& results);

}  // namespace knell::cli
