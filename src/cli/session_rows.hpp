#pragma once

#include <string_view>
#include <vector>

#include "cli/table.hpp"
#include "wire/json.hpp"

namespace knell::cli {

Tone tone_of_status(std::string_view status);
Tone tone_of_end(const JsonObject& session);

/// One row a session: id, status, source, title, age, last activity or end, reason, owner.
Table session_table(const JsonArray& sessions, WallTime now);

}  // namespace knell::cli
