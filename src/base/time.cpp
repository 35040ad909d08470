#include "base/time.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include <fmt/format.h>

namespace knell {

namespace {

std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
    if (at + count > text.size()) return std::nullopt;
    int value = 0;
    const auto* end = text.data() + at + count;
    const auto [stop, error] = std::from_chars(text.data() + at, end, value);
    if (error != std::errc{} || stop != end || value < 0) return std::nullopt;
    return value;
}

/// `value` over the last digits of a field, right to left.
void put_digits(char* field, std::size_t count, unsigned value) {
    while (count > 0) {
        field[--count] = static_cast<char>('0' + value % 10);
        value /= 10;
    }
}

}  // namespace

void append_rfc3339(std::string& out, WallTime time) {
    using namespace std::chrono;
    const sys_time<milliseconds> at{time.time_since_epoch()};
    const auto day = floor<days>(at);
    const year_month_day date{day};
    const auto year = int{date.year()};
    const auto millis = static_cast<unsigned>((at - day).count());
    char text[] = "0000-00-00T00:00:00.000Z";
    // Four digits hold every year that anybody will see; a damaged one must not look like one.
    const bool ordinary = year >= 0 && year <= 9999;
    if (!ordinary) fmt::format_to(std::back_inserter(out), "{:04}", year);
    put_digits(text, 4, static_cast<unsigned>(std::max(year, 0)));
    put_digits(text + 5, 2, unsigned{date.month()});
    put_digits(text + 8, 2, unsigned{date.day()});
    put_digits(text + 11, 2, millis / 3'600'000);
    put_digits(text + 14, 2, millis / 60'000 % 60);
    put_digits(text + 17, 2, millis / 1000 % 60);
    put_digits(text + 20, 3, millis % 1000);
    out.append(std::string_view(text).substr(ordinary ? 0 : 4));
}

std::string format_rfc3339(WallTime time) {
    std::string text;
    append_rfc3339(text, time);
    return text;
}

std::optional<WallTime> parse_rfc3339(std::string_view text) {
    using namespace std::chrono;
    if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' ||
        text[13] != ':' || text[16] != ':' || text.back() != 'Z') {
        return std::nullopt;
    }
    const auto y = digits(text, 0, 4), mo = digits(text, 5, 2), d = digits(text, 8, 2);
    const auto h = digits(text, 11, 2), mi = digits(text, 14, 2), s = digits(text, 17, 2);
    if (!y || !mo || !d || !h || !mi || !s || *h > 23 || *mi > 59 || *s > 59) return std::nullopt;
    const year_month_day date{year{*y}, month{static_cast<unsigned>(*mo)},
                              day{static_cast<unsigned>(*d)}};
    if (!date.ok()) return std::nullopt;
    int millis = 0;
    if (text.size() != 20) {
        if (text.size() != 24 || text[19] != '.') return std::nullopt;
        const auto fraction = digits(text, 20, 3);
        if (!fraction) return std::nullopt;
        millis = *fraction;
    }
    const auto at = sys_days{date} + hours{*h} + minutes{*mi} + seconds{*s} + milliseconds{millis};
    return WallTime{duration_cast<milliseconds>(at.time_since_epoch())};
}

namespace {

bool all_digits(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Takes the milliseconds of ".123456" off the text; what is finer than that is cut off.
std::optional<std::chrono::milliseconds> take_fraction(std::string_view& text) {
    if (!text.starts_with('.')) return std::chrono::milliseconds{0};
    text.remove_prefix(1);
    const auto size = std::min(text.find_first_not_of("0123456789"), text.size());
    constexpr std::size_t finest = 9;
    if (size == 0 || size > finest) return std::nullopt;
    std::string shown(text.substr(0, std::min<std::size_t>(size, 3)));
    shown.resize(3, '0');
    text.remove_prefix(size);
    return std::chrono::milliseconds{*digits(shown, 0, 3)};
}

/// East of Greenwich it is positive.
std::optional<std::chrono::minutes> offset_in(std::string_view text) {
    if (text == "Z" || text == "z") return std::chrono::minutes{0};
    if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') {
        return std::nullopt;
    }
    if (!all_digits(text.substr(1, 2)) || !all_digits(text.substr(4, 2))) return std::nullopt;
    const auto hours = digits(text, 1, 2);
    const auto minutes = digits(text, 4, 2);
    if (*hours > 23 || *minutes > 59) return std::nullopt;
    const auto offset = std::chrono::minutes{*hours * 60 + *minutes};
    return text[0] == '-' ? -offset : offset;
}

}  // namespace

std::optional<WallTime> parse_any_rfc3339(std::string_view text) {
    constexpr std::size_t seconds_end = 19;
    if (text.size() <= seconds_end) return std::nullopt;
    const auto at = parse_rfc3339(std::string(text.substr(0, seconds_end)) + 'Z');
    auto rest = text.substr(seconds_end);
    const auto fraction = take_fraction(rest);
    if (!at || !fraction) return std::nullopt;
    const auto offset = offset_in(rest);
    if (!offset) return std::nullopt;
    return *at + *fraction - *offset;
}

}  // namespace knell
