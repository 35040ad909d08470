#pragma once

#include <string>

#include "cli/table.hpp"
#include "wire/json.hpp"

namespace knell::cli {

Tone tone_of_activity(std::string_view activity);

/// One row a process of process.list: id, session, activity, age, pid, command, evidence.  Evidence
/// that has no room beside the rest stands whole on lines below.
std::string process_table(const JsonArray& processes, const Terminal& terminal, WallTime now);

/// The same under a line for each session, in the order in which their first processes come.
std::string process_tree(const JsonArray& processes, const Terminal& terminal, WallTime now);

}  // namespace knell::cli
