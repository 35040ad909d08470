#pragma once

#include "foreign/hermes/config_map.hpp"

namespace knell::hermes {

/// `fallback_providers` and `fallback_model`: what Hermes tries when the first provider fails.
void check_hermes_fallbacks(const HermesMap& root, FileProblems& problems);

}  // namespace knell::hermes
