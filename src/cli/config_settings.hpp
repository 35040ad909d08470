#pragma once

#include <string>
#include <vector>

#include "config/setting.hpp"
#include "platform/terminal.hpp"
#include "wire/json.hpp"

namespace knell::cli {

// What `knell config show` says.  Pure; never a secret, only where one is.

/// A row a key: its value, and "default" or where in the file it is set.
std::string settings_table(const std::vector<Setting>& settings, const std::string& config_file,
                           const Terminal& terminal);

/// [{key, value, unit?, from: "default" | "file", line?, column?}]
JsonArray settings_json(const std::vector<Setting>& settings);

}  // namespace knell::cli
