#include "base/duration_text.hpp"

#include <array>
#include <charconv>
#include <cstdint>

#include <fmt/format.h>

namespace knell {

namespace {

using std::chrono::seconds;

struct Unit {
    char letter;
    seconds length;
};
/// The largest first.
constexpr std::array units{Unit{'d', std::chrono::days{1}}, Unit{'h', std::chrono::hours{1}},
                           Unit{'m', std::chrono::minutes{1}}, Unit{'s', seconds{1}}};
/// Of a count, so that the product fits.
constexpr std::int64_t count_max = 1'000'000'000'000;

}  // namespace

std::optional<seconds> parse_duration(std::string_view text, seconds bare_unit) {
    auto unit = bare_unit;
    for (const auto& [letter, length] : units) {
        if (!text.ends_with(letter)) continue;
        unit = length;
        text.remove_suffix(1);
        break;
    }
    const auto* end = text.data() + text.size();
    std::int64_t count = 0;
    const auto [rest, error] = std::from_chars(text.data(), end, count);
    const bool is_number = error == std::errc{} && rest == end;
    if (!is_number || text.starts_with('-') || count > count_max) return std::nullopt;
    return count * unit;
}

std::string format_duration(seconds duration) {
    for (const auto& [letter, length] : units) {
        if (duration.count() == 0 || duration % length != seconds{0}) continue;
        return fmt::format("{}{}", duration / length, letter);
    }
    return "0s";
}

}  // namespace knell
