#pragma once

#include <optional>
#include <string>

#include "client/connection.hpp"

namespace knell::cli {

/// A session that somebody names on the command line, by its id or by its key.
struct NamedSession {
    JsonObject params;                  // as session.reset and session.suspend take them
    std::optional<JsonObject> session;  // of session.show or session.list; none: of that key
};

/// What is the id of a session is one, else it is a key: of the open session, else of the newest.
Result<NamedSession> find_named(client::Connection& connection, const std::string& name);
Error no_session_named(std::string_view name);
/// The same for those who need one.
Result<JsonObject> find_session(client::Connection& connection, const std::string& name);

}  // namespace knell::cli
