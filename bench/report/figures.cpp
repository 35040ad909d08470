#include "figures.hpp"

#include <cmath>

#include <fmt/format.h>

namespace knell::bench {

std::string grouped(double value) {
    auto digits = fmt::format("{:.0f}", std::abs(value));
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
        digits.insert(static_cast<std::size_t>(at), ",");
    }
    return value < 0 ? "-" + digits : digits;
}

std::string number(double value) {
    const auto size = std::abs(value);
    if (size >= 999.5) return grouped(value);
    if (size >= 99.95) return fmt::format("{:.0f}", value);
    if (size >= 9.995) return fmt::format("{:.1f}", value);
    if (size >= 0.095 || size == 0) return fmt::format("{:.2f}", value);
    return fmt::format("{:.2g}", value);
}

std::string with_unit(double value, const std::string& unit) {
    const auto* gap = unit.starts_with('/') || unit == "x" ? "" : " ";
    return number(value) + gap + unit;
}

std::string for_page(const std::string& unit) {
    return unit == "us" ? "µs" : unit;
}

std::string with_spread(const Spread& spread, const std::string& unit) {
    if (spread.runs < 2) return with_unit(spread.median, unit);
    return fmt::format("{} ({} to {})", with_unit(spread.median, unit), number(spread.low),
                       number(spread.high));
}

std::string duration(double seconds) {
    if (seconds >= 0.9995) return number(seconds) + " s";
    if (seconds >= 0.9995e-3) return number(seconds * 1e3) + " ms";
    return number(seconds * 1e6) + " µs";
}

}  // namespace knell::bench
