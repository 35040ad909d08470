#include "activity/evidence_text.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace knell {

using namespace std::chrono_literals;

std::string lasting_text(std::chrono::nanoseconds duration) {
    using std::chrono::floor;
    if (duration < 0s) duration = 0s;
    if (duration < 1min) return fmt::format("{} s", floor<std::chrono::seconds>(duration).count());
    if (duration < 2h) return fmt::format("{} min", floor<std::chrono::minutes>(duration).count());
    if (duration < 48h) return fmt::format("{} h", floor<std::chrono::hours>(duration).count());
    return fmt::format("{} days", floor<std::chrono::days>(duration).count());
}

std::string moment_text(WallTime then, WallTime now) {
    static constexpr std::array<std::string_view, 12> months{
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto whole = format_rfc3339(then);  // "2026-11-15T03:52:25.001Z"
    const auto age = now - then;
    if (age < 24h && age > -24h) return whole.substr(11, 5) + " UTC";
    const std::chrono::sys_days day{std::chrono::floor<std::chrono::days>(then.time_since_epoch())};
    const std::chrono::year_month_day date{day};
    auto text = fmt::format("{} {}", static_cast<unsigned>(date.day()),
                            months.at(static_cast<unsigned>(date.month()) - 1));
    constexpr auto without_year = std::chrono::days{300};
    if (age < without_year && age > -24h) return text;
    return fmt::format("{} {}", text, static_cast<int>(date.year()));
}

std::string bytes_text(std::uint64_t bytes) {
    static constexpr std::array<std::string_view, 4> units{"kB", "MB", "GB", "TB"};
    constexpr double step = 1000;
    if (bytes < 1000) return fmt::format("{} B", bytes);
    auto amount = static_cast<double>(bytes) / step;
    std::size_t unit = 0;
    while (amount >= step && unit + 1 < units.size()) {
        amount /= step;
        ++unit;
    }
    return fmt::format("{:.{}f} {}", amount, amount < 10 ? 1 : 0, units.at(unit));
}

}  // namespace knell
