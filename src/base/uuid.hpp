#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace knell {

/// UUIDv7 text (RFC 9562): sorts by time, so an index over ids grows at its right edge.
/// `random` gives the 74 free bits; bits that collide with version and variant are overwritten.
std::string make_uuid7(WallTime time, std::array<std::uint64_t, 2> random);

using UuidBytes = std::array<char, 16>;
/// The bytes of a UUID that is written as `uuid_text` writes it, in lower case and with its dashes;
/// of any other text nothing, so that the way back gives the same text.
std::optional<UuidBytes> parse_uuid(std::string_view text);
std::string uuid_text(const UuidBytes& bytes);

}  // namespace knell
