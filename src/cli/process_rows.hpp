#pragma once

#include <string>

#include "cli/table.hpp"
#include "wire/json.hpp"

namespace knell::cli {

Tone tone_of_activity(std::string_view activity);

/// One row a process of process.list: id, session, activity, age, pid, command, evidence.
Table process_table(const JsonArray& processes, WallTime now);

/// The same under a line for each session, in the order in which their first processes come.
std::string process_tree(const JsonArray& processes, const Terminal& terminal, WallTime now);

}  // namespace knell::cli
