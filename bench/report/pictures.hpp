#pragma once

#include <string>
#include <vector>

#include "report.hpp"

namespace knell::bench {

/// A plot as a file, and where it is shown.
struct Picture {
    Chapter chapter = Chapter::limits;
    std::string file;  // name.svg
    std::string alt;   // what it shows, for who cannot see it
    std::string svg;
};

// Names under which benchmarks keep measurements for the plots.
namespace kept {
inline constexpr auto create = "create";
inline constexpr auto create_sync = "create.sync";
inline constexpr auto death = "death";
inline constexpr auto death_floor = "death.floor";
inline constexpr auto gone = "gone/";  // and the contender's name
}  // namespace kept

/// Plots of whatever was measured: a run of one benchmark has fewer.
std::vector<Picture> pictures_of(const Report& report);

}  // namespace knell::bench
