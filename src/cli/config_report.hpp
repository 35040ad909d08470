#pragma once

#include <string>

#include "wire/json.hpp"

namespace knell::cli {

/// What `knell config check` says: a line for each problem, the errors first, how many there are,
/// and what is in config.yaml and hooks/.
std::string config_report(const JsonObject& checked);

/// What `knell reload` says.
std::string reload_report(const JsonObject& reloaded);

/// Whether one of its problems is more than a warning.
bool has_errors(const JsonObject& result);

}  // namespace knell::cli
