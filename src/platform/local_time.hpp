#pragma once

#include <cstdint>
#include <string>

#include "base/time.hpp"

namespace knell {

enum class ShownZone : std::uint8_t { local, utc };

/// "2026-11-19 14:05:22 CET": as the clocks of this machine show it (TZ, else /etc/localtime), or
/// in UTC.
std::string clock_text(WallTime time, ShownZone zone);
/// The same with milliseconds: "2026-11-19 14:05:22.120 CET".
std::string exact_clock_text(WallTime time, ShownZone zone);

}  // namespace knell
