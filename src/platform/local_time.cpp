#include "platform/local_time.hpp"

#include <array>
#include <ctime>

namespace knell {

namespace {

std::string formatted(const std::tm& parts, const char* form) {
    std::array<char, 64> text{};
    return {text.data(), std::strftime(text.data(), text.size(), form, &parts)};
}

/// `fraction` stands behind the seconds.
std::string shown(WallTime time, ShownZone zone, std::string_view fraction) {
    const auto seconds = static_cast<std::time_t>(
        std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count());
    std::tm parts{};
    const auto* done =
        zone == ShownZone::utc ? ::gmtime_r(&seconds, &parts) : ::localtime_r(&seconds, &parts);
    if (done == nullptr) return format_rfc3339(time);
    auto text = formatted(parts, "%Y-%m-%d %H:%M:%S");
    text += fraction;
    return text + (zone == ShownZone::utc ? std::string(" UTC") : formatted(parts, " %Z"));
}

}  // namespace

std::string clock_text(WallTime time, ShownZone zone) {
    return shown(time, zone, "");
}

std::string exact_clock_text(WallTime time, ShownZone zone) {
    // Those of the text that every time has: ".120Z".
    const auto whole = format_rfc3339(time);
    return shown(time, zone, std::string_view(whole).substr(whole.size() - 5, 4));
}

}  // namespace knell
