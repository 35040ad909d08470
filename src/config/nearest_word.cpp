#include "config/nearest_word.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace knell {

namespace {

/// Letters to add, drop, change, or exchange with the next to make one word of the other.
std::size_t distance(std::string_view left, std::string_view right) {
    // Row by row of the table "the first i letters to the first j letters".
    std::vector<std::size_t> before;
    std::vector<std::size_t> last(right.size() + 1);
    std::iota(last.begin(), last.end(), 0);
    for (std::size_t i = 0; i < left.size(); ++i) {
        std::vector<std::size_t> row(right.size() + 1, i + 1);
        for (std::size_t j = 0; j < right.size(); ++j) {
            const auto changed = last[j] + (left[i] == right[j] ? 0 : 1);
            row[j + 1] = std::min({changed, row[j] + 1, last[j + 1] + 1});
            const bool exchanged =
                i > 0 && j > 0 && left[i] == right[j - 1] && left[i - 1] == right[j];
            if (exchanged) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
        }
        before = std::exchange(last, std::move(row));
    }
    return last.back();
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
    constexpr std::size_t slips_max = 2;
    std::string nearest;
    auto best = slips_max + 1;
    for (const auto& candidate : known) {
        // A word of another length altogether; what comes from outside may be very long.
        if (word.size() > candidate.size() + slips_max) continue;
        const auto slips = distance(word, candidate);
        if (slips >= best || slips * 3 > candidate.size()) continue;
        best = slips;
        nearest = candidate;
    }
    return nearest;
}

}  // namespace knell
