#pragma once

#include <cstdint>

namespace knell::functional {

/// Some moments, without a clock: a million turns are about as long as the disk takes for a commit.
inline void dither(std::uint64_t turns) {
    [[maybe_unused]] volatile std::uint64_t sink = 0;
    for (std::uint64_t i = 0; i < turns; ++i) sink = i;
}

}  // namespace knell::functional
