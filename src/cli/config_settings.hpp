#pragma once

#include <string>
#include <vector>

#include "config/setting.hpp"
#include "platform/terminal.hpp"
#include "wire/json.hpp"

namespace knell::cli {

// What `knell config show` says.  Pure; never a secret, only where one is.

/// What the daemon was told as it was started holds until it stops: the `overrides` of
/// `node.status`.
void apply_overrides(std::vector<Setting>& settings, const JsonObject& status);

/// A row a key: its value, and "default", where in the file it is set, or who else said so.
std::string settings_table(const std::vector<Setting>& settings, const std::string& config_file,
                           const Terminal& terminal);

/// [{key, value, unit?, from: "default" | "file" | "fallback" | "override", line?, column?, by?}];
/// "fallback": its section is in error.
JsonArray settings_json(const std::vector<Setting>& settings);

}  // namespace knell::cli
