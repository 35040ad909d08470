#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/time.hpp"

namespace knell {

/// How long: "40 s", "3 min", "2 h", "5 days".
std::string lasting_text(std::chrono::nanoseconds duration);

/// When, for whoever reads it within a moment: "14:05 UTC" within a day, then "18 May", and
/// "18 May 2025" once the year does not go without saying.
std::string moment_text(WallTime then, WallTime now);

/// "512 B", "1.5 kB", "20 MB".
std::string bytes_text(std::uint64_t bytes);

}  // namespace knell
