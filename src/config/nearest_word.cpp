#include "config/nearest_word.hpp"

#include <algorithm>
#include <numeric>

namespace knell {

namespace {

/// Letters to add, drop or change to make one word of the other.
std::size_t distance(std::string_view left, std::string_view right) {
    // Row by row of the table "the first i letters to the first j letters".
    std::vector<std::size_t> row(right.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 0; i < left.size(); ++i) {
        auto diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < right.size(); ++j) {
            const auto changed = diagonal + (left[i] == right[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
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
