#pragma once

#include <cstdint>
#include <optional>

#include "cli/event_rows.hpp"
#include "client/connection.hpp"
#include "platform/paths.hpp"

namespace knell::cli {

/// What `knell events --follow` follows.
struct Follow {
    Paths paths;
    JsonObject filter;       // `types` and `session_id`, where they were given
    std::int64_t after = 0;  // the last number that was printed already
};

/// Connects once a daemon answers.  Nothing when told to stop.
std::optional<client::Connection> wait_for_daemon(const Paths& paths);

/// Prints events as they happen until Ctrl-C, SIGTERM or the end of whoever reads; gives the exit
/// status.  When the daemon goes away it waits for the next one and goes on where it was: nothing
/// is printed twice and nothing left out.
int follow_events(client::Connection connection, Follow follow, const EventPrinter& printer);

}  // namespace knell::cli
