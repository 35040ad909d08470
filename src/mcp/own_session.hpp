#pragma once

#include <span>
#include <string>

#include "mcp/surroundings.hpp"

namespace knell::mcp {

/// The session that the agent runs in: the one its environment names, or the open one whose owner
/// is the nearest process above the server.  The error says what to give instead.
Result<std::string> find_own_session(Surroundings& surroundings);

/// The session among `sessions` (rows of session.list) whose owner stands nearest among
/// `ancestors`; "" when none is, `owned` when that process owns several.  Pure.
Result<std::string> session_of_nearest(const JsonArray& sessions, std::span<const pid_t> ancestors);

}  // namespace knell::mcp
