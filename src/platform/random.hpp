#pragma once

#include <array>
#include <cstdint>

namespace knell {

/// 128 bits from the kernel, for ids.
std::array<std::uint64_t, 2> random_bits();

}  // namespace knell
