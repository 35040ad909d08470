#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace knell {

/// "6", "06" and "6:30" or "06:30", from 0 to 23:59; nothing for anything else.
std::optional<std::chrono::minutes> parse_time_of_day(std::string_view text);

/// "06:30"
std::string format_time_of_day(std::chrono::minutes time_of_day);

}  // namespace knell
