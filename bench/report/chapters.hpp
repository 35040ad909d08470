#pragma once

#include <array>
#include <string_view>

#include "report.hpp"

namespace knell::bench {

inline constexpr std::array all_chapters{
    Chapter::gone,   Chapter::leases, Chapter::sessions, Chapter::processes, Chapter::size,
    Chapter::growth, Chapter::events, Chapter::listing,  Chapter::web,       Chapter::limits,
};

struct ChapterWords {
    std::string_view title;
    std::string_view note;
};

/// What a reader must know to judge the figures; no figure itself, they change with every run.
ChapterWords words_of(Chapter chapter);

}  // namespace knell::bench
