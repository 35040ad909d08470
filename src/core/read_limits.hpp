#pragma once

#include <cstddef>
#include <cstdint>

/// Bounds of searches, counts and statistics; all others are in limits.hpp.
namespace knell::limits {

// What may be asked.
inline constexpr std::size_t search_query_bytes_max = 1000;
inline constexpr std::size_t search_words_max = 32;
inline constexpr std::size_t search_prefix_bytes_min = 2;
inline constexpr std::size_t search_page_default = 20;
inline constexpr std::size_t search_page_max = 200;
// What is looked at for one page: messages that hold the words, and text that is not in the index.
inline constexpr std::size_t search_candidates_max = 50'000;
inline constexpr std::size_t search_scan_bytes_max = 16U << 20U;
// What is told of each that is found.
inline constexpr std::size_t search_spans_max = 1000;
inline constexpr std::int64_t snippet_characters_max = 160;

/// Sessions that a list leaves out are counted up to so many.
inline constexpr std::int64_t folded_counted_max = 10'000;

inline constexpr std::int64_t stats_days_default = 14;
inline constexpr std::int64_t stats_days_max = 366;
/// Rows of days and sources; further sources of a day are added up as one.
inline constexpr std::size_t stats_sources_max = 50;

}  // namespace knell::limits
