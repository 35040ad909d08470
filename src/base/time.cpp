#include "base/time.hpp"

#include <charconv>

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

}  // namespace

std::string format_rfc3339(WallTime time) {
    using namespace std::chrono;
    const sys_time<milliseconds> at{time.time_since_epoch()};
    const auto day = floor<days>(at);
    const year_month_day date{day};
    const hh_mm_ss clock{at - day};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", int{date.year()},
                       unsigned{date.month()}, unsigned{date.day()}, clock.hours().count(),
                       clock.minutes().count(), clock.seconds().count(),
                       clock.subseconds().count());
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

}  // namespace knell
