#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace knell::cli {

/// "3m ago", "in 2h", "just now"; past 60 days the date.  Pure.
std::string relative_time(WallTime then, WallTime now);
/// The same for a time as it stands in a result; "" when it is missing or not a time.
std::string relative_time(std::string_view rfc3339, WallTime now);

/// How long ago, where a column says so already: "3m", "2h", "0s", "in 2h", past 60 days the date;
/// "" when the time is missing or none.
std::string age_text(std::string_view rfc3339, WallTime now);

/// "12s", "3m 5s", "2h 4m", "5d 1h".
std::string format_duration(std::chrono::seconds duration);

}  // namespace knell::cli
