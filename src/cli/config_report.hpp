#pragma once

#include <string>

#include "wire/json.hpp"

namespace knell::cli {

/// What `knell config check` says: a line for each problem, and for config.yaml and hooks/ what is
/// in them.
std::string config_report(const JsonObject& checked);

}  // namespace knell::cli
