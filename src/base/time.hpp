#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace knell {

/// Tags only: no now().  The real clocks live in platform/, everybody else is handed the time.
struct WallTag {
    using rep = std::int64_t;
    using period = std::milli;
    using duration = std::chrono::milliseconds;
};
struct SteadyTag {
    using rep = std::int64_t;
    using period = std::nano;
    using duration = std::chrono::nanoseconds;
};

/// Stored and shown.  May jump either way: never compare two of them to decide a deadline.
using WallTime = std::chrono::time_point<WallTag, std::chrono::milliseconds>;
/// For deadlines.  Never goes backwards; means nothing after a reboot.
using SteadyTime = std::chrono::time_point<SteadyTag, std::chrono::nanoseconds>;

struct Now {
    WallTime wall;
    SteadyTime steady;  // deadlines; the engine's stands still while nobody could be heard
    SteadyTime boot;    // never stands still: how long ago something was seen
};

constexpr std::int64_t to_millis(WallTime time) {
    return time.time_since_epoch().count();
}
constexpr WallTime from_millis(std::int64_t millis) {
    return WallTime{std::chrono::milliseconds{millis}};
}

/// "2026-11-15T03:52:25.001Z"
std::string format_rfc3339(WallTime time);
/// The same at the end of `out`: a page of events holds thousands.
void append_rfc3339(std::string& out, WallTime time);
/// Accepts what format_rfc3339 writes, with or without a fraction.
std::optional<WallTime> parse_rfc3339(std::string_view text);
/// Also what others write: any fraction of a second, an offset from UTC instead of Z.
std::optional<WallTime> parse_any_rfc3339(std::string_view text);

}  // namespace knell
