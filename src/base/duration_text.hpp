#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace knell {

/// "90s", "2m", "12h", "30d"; a number without a letter counts `bare_unit`.  Nothing for anything
/// else: signs, blanks, fractions, several units, and what no program will live to see.
std::optional<std::chrono::seconds> parse_duration(std::string_view text,
                                                   std::chrono::seconds bare_unit);

/// In the largest unit in which it is a whole number: "90s", "2m", "1d".
std::string format_duration(std::chrono::seconds duration);

}  // namespace knell
