#include "cli/relative_time.hpp"

#include <fmt/format.h>

namespace knell::cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::days, std::chrono::duration_cast, std::chrono::hours, std::chrono::minutes,
    std::chrono::seconds;

/// One number and its unit: a column of ages is read at a glance.
std::string coarse(seconds age) {
    if (age < 1min) return fmt::format("{}s", age.count());
    if (age < 1h) return fmt::format("{}m", duration_cast<minutes>(age).count());
    if (age < 48h) return fmt::format("{}h", duration_cast<hours>(age).count());
    return fmt::format("{}d", duration_cast<days>(age).count());
}

}  // namespace

std::string relative_time(WallTime then, WallTime now) {
    const auto age = std::chrono::floor<seconds>(now - then);
    if (age >= days{60} || age <= -days{60}) return format_rfc3339(then).substr(0, 10);
    if (age >= 1s) return coarse(age) + " ago";
    // Clocks differ a little between hosts and within a step; a second ahead is not the future.
    if (age >= -2s) return "just now";
    return "in " + coarse(-age);
}

std::string relative_time(std::string_view rfc3339, WallTime now) {
    const auto then = parse_rfc3339(rfc3339);
    return then ? relative_time(*then, now) : std::string{};
}

std::string age_text(std::string_view rfc3339, WallTime now) {
    auto text = relative_time(rfc3339, now);
    if (text == "just now") return "0s";
    if (text.ends_with(" ago")) text.resize(text.size() - 4);
    return text;
}

std::string format_duration(seconds duration) {
    const auto count = [](auto value) { return value.count(); };
    if (duration < 1min) return fmt::format("{}s", duration.count());
    if (duration < 1h) {
        return fmt::format("{}m {}s", count(duration_cast<minutes>(duration)),
                           count(duration % 1min));
    }
    if (duration < 24h) {
        return fmt::format("{}h {}m", count(duration_cast<hours>(duration)),
                           count(duration_cast<minutes>(duration % 1h)));
    }
    return fmt::format("{}d {}h", count(duration_cast<days>(duration)),
                       count(duration_cast<hours>(duration % days{1})));
}

}  // namespace knell::cli
