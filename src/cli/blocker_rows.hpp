#pragma once

#include <string>
#include <string_view>

#include "base/time.hpp"
#include "cli/table.hpp"
#include "wire/json.hpp"

namespace knell::cli {

/// Of these rows of process.list the ones that are in the way of a person's reset, as session.reset
/// names them.
JsonArray blockers_among(const JsonArray& processes);

/// One row for each process that holds a reset: id, pid, age, activity, until when, command.
Table blocker_table(const JsonArray& blockers, WallTime now);

/// What to type about them, also into a shell; `name` is the session's, as it was given.
std::string blocker_advice(const JsonArray& blockers, std::string_view name);

}  // namespace knell::cli
