#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/time.hpp"

namespace knell {

/// UUIDv7 text (RFC 9562): sorts by time, so an index over ids grows at its right edge.
/// `random` gives the 74 free bits; bits that collide with version and variant are overwritten.
std::string make_uuid7(WallTime time, std::array<std::uint64_t, 2> random);

}  // namespace knell
