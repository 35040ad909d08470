#pragma once

#include <optional>
#include <string_view>

#include "foreign/hermes/config_check.hpp"
#include "foreign/hermes/config_map.hpp"

namespace knell::hermes {

/// Why this keeps nobody out; "What is wrong; what would be right".
std::optional<std::string_view> why_weak(std::string_view key);

/// The key of Hermes' API server, where that is on.
void check_hermes_api_key(const HermesMap& root,
                          const std::optional<HermesEnvironment>& environment,
                          FileProblems& problems);

}  // namespace knell::hermes
