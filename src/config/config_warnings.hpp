#pragma once

#include "config/config.hpp"

namespace knell {

/// Keys that do nothing, or not what they seem to, beside what the others say: warnings.
void warn_of_contradictions(const Config& config, FileProblems& problems);

}  // namespace knell
