#pragma once

#include <string>

#include "client/connection.hpp"

namespace knell::client {

struct Wanted {
    std::size_t limit = 1000;
    std::string task_id;      // only of this task; the daemon lists those of the session, too
    bool is_running = false;  // only those
};
struct Listed {
    JsonArray processes;  // rows of process.list, the newest first
    bool is_more = false;
};

/// All pages of process.list, up to the limit.  `params` are those of the call.
Result<Listed> list_processes(Connection& connection, JsonObject params, const Wanted& wanted);

}  // namespace knell::client
