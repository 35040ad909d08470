#pragma once

#include <cstdint>
#include <string_view>

#include "client/connection.hpp"
#include "client/deadline.hpp"

namespace knell::client {

/// Waits for sessions to end, on a connection that follows nothing else.  Begin it before something
/// is done that ends them, and no end is missed.
class EndWatch {
  public:
    static Result<EndWatch> begin(Connection& connection);

    /// The session as session.show has it, once that generation is over or the time is up.
    Result<JsonObject> wait(std::string_view session_id, std::int64_t generation,
                            const Deadline& deadline);

  private:
    explicit EndWatch(Connection& connection) : connection_(connection) {}

    Connection& connection_;
};

/// Whether that generation of a session, as session.show has it, is over.
bool is_over(const JsonObject& session, std::int64_t generation);

}  // namespace knell::client
