#include "config/number_pattern.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.hpp"

namespace knell {

namespace {

using std::chrono::seconds;

std::string any_digits(std::size_t count) {
    if (count == 0) return "";
    return count == 1 ? "[0-9]" : fmt::format("[0-9]{{{}}}", count);
}

std::string one_digit(char from, char to) {
    return from == to ? std::string(1, from) : fmt::format("[{}-{}]", from, to);
}

/// Of numbers with as many digits as each other.
std::string same_length(std::string_view least, std::string_view most) {
    if (least.empty()) return "";
    const auto rest = least.size() - 1;
    if (least[0] == most[0]) return least[0] + same_length(least.substr(1), most.substr(1));
    const std::string zeros(rest, '0');
    const std::string nines(rest, '9');
    std::vector<std::string> forms;
    char from = least[0];
    char to = most[0];
    if (least.substr(1) != zeros) forms.push_back(from++ + same_length(least.substr(1), nines));
    std::string last;
    if (most.substr(1) != nines) last = to-- + same_length(zeros, most.substr(1));
    if (from <= to) forms.push_back(one_digit(from, to) + any_digits(rest));
    if (!last.empty()) forms.push_back(std::move(last));
    return forms.size() == 1 ? forms.front() : fmt::format("({})", fmt::join(forms, "|"));
}

}  // namespace

std::string number_pattern(std::int64_t least, std::int64_t most) {
    CHECK(0 <= least && least <= most);
    std::vector<std::string> forms;
    // One stretch for each count of digits: 3 to 9, 10 to 99, 100 to 604.
    for (auto from = least; from <= most;) {
        const auto digits = fmt::to_string(from);
        const auto longest = std::string(digits.size(), '9');
        const auto to = std::min(
            fmt::to_string(most), longest, [](const std::string& left, const std::string& right) {
                return std::pair(left.size(), left) < std::pair(right.size(), right);
            });
        forms.push_back(same_length(digits, to));
        if (to != longest) break;
        from = std::stoll(to) + 1;
    }
    return fmt::format("({})", fmt::join(forms, "|"));
}

std::string duration_pattern(seconds least, seconds most, seconds bare_unit) {
    struct Unit {
        char letter;
        seconds length;
    };
    constexpr std::array units{Unit{'s', seconds{1}}, Unit{'m', std::chrono::minutes{1}},
                               Unit{'h', std::chrono::hours{1}}, Unit{'d', std::chrono::days{1}}};
    std::vector<std::string> forms;
    for (const auto& [letter, length] : units) {
        const auto from = (least + length - seconds{1}) / length;
        const auto to = most / length;
        if (length < bare_unit || from > to) continue;
        forms.push_back(number_pattern(from, to) + letter);
    }
    return fmt::format("^({})$", fmt::join(forms, "|"));
}

}  // namespace knell
