#pragma once

#include <string>

#include "platform/terminal.hpp"
#include "wire/json.hpp"

namespace knell::cli {

/// What node.stats says, in a sentence and charts: starts and tokens by day, or by week where there
/// are many days, ends by reason, and sources.  Pure.
std::string stats_report(const JsonObject& stats, const Terminal& terminal);

}  // namespace knell::cli
