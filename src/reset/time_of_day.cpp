#include "reset/time_of_day.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace knell {

namespace {

/// One or two digits below `end`.
std::optional<int> parse_part(std::string_view digits, int end) {
    const bool is_number = std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
    if (!is_number || digits.empty() || digits.size() > 2) return std::nullopt;
    const auto number = number_in<int>(digits);
    return number < end ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<std::chrono::minutes> parse_time_of_day(std::string_view text) {
    const auto colon = text.find(':');
    const auto hour = parse_part(text.substr(0, colon), 24);
    if (!hour) return std::nullopt;
    if (colon == std::string_view::npos) return std::chrono::hours{*hour};
    const auto behind = text.substr(colon + 1);
    const auto minute = behind.size() == 2 ? parse_part(behind, 60) : std::nullopt;
    if (!minute) return std::nullopt;
    return std::chrono::hours{*hour} + std::chrono::minutes{*minute};
}

std::string format_time_of_day(std::chrono::minutes time_of_day) {
    return fmt::format("{:02}:{:02}", time_of_day.count() / 60, time_of_day.count() % 60);
}

}  // namespace knell
