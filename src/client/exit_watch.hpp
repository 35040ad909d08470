#pragma once

#include <string_view>

#include "client/connection.hpp"
#include "client/deadline.hpp"

namespace knell::client {

/// Waits for the stop of background processes to end, on a connection that follows nothing else.
/// Begin it before the processes are told to stop, and no end is missed.
class ExitWatch {
  public:
    static Result<ExitWatch> begin(Connection& connection);

    /// The process as process.show has it, once nothing of it is being stopped any more or the
    /// time is up.
    Result<JsonObject> wait(std::string_view process_id, const Deadline& deadline);

  private:
    explicit ExitWatch(Connection& connection) : connection_(connection) {}

    Connection& connection_;
};

}  // namespace knell::client
