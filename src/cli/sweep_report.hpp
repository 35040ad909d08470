#pragma once

#include <string>

#include "platform/terminal.hpp"
#include "wire/json.hpp"

namespace knell::cli {

// What node.sweep answers, for a person.  Pure.

/// What was ended, or would be in a dry run, and on what evidence.
std::string sweep_ends(const JsonObject& sweep, const Terminal& terminal);
/// What was left alone and why, sessions with the same why together; "" when there is nothing.
std::string sweep_left_alone(const JsonObject& sweep, const Terminal& terminal);

}  // namespace knell::cli
