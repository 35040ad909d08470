#pragma once

#include <string>

#include "base/time.hpp"
#include "platform/terminal.hpp"
#include "wire/json.hpp"

namespace knell::cli {

/// What session.why answers, for a person: the verdict and its evidence first, then the facts, its
/// history, what it left running, when it is reset, and what would end it.  Pure.
std::string why_report(const JsonObject& why, const Terminal& terminal, WallTime now);

}  // namespace knell::cli
