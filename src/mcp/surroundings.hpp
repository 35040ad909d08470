#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "core/error.hpp"
#include "wire/json.hpp"

namespace knell::mcp {

/// What the server needs of the world.  One thread.
class Surroundings {
  public:
    Surroundings() = default;
    virtual ~Surroundings() = default;
    Surroundings(const Surroundings&) = delete;
    Surroundings& operator=(const Surroundings&) = delete;

    /// Calls the daemon; one is started where none runs.
    virtual Result<JsonObject> call(std::string_view method, const JsonObject& params) = 0;

    /// Waits until the process is gone with all that belongs to it, or was left, for as long as
    /// stopping one takes; its row as it is then.
    virtual Result<JsonObject> wait_until_gone(std::string_view process_id) = 0;

    /// KNELL_SESSION_ID of whoever started the server; "" without one.
    virtual std::string named_session() = 0;
    /// The processes above the server, the nearest first, as the daemon counts pids; none where it
    /// counts differently.
    virtual std::vector<pid_t> ancestors() = 0;
    /// Where the server was started; "" when it is gone.
    virtual std::string directory() = 0;
    /// PATH of whoever started the server; "" without one.
    virtual std::string search_path() = 0;
};

}  // namespace knell::mcp
