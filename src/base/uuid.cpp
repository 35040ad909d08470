#include "base/uuid.hpp"

namespace knell {

std::string make_uuid7(WallTime time, std::array<std::uint64_t, 2> random) {
    const auto millis = static_cast<std::uint64_t>(to_millis(time));
    const std::uint64_t high = (millis << 16) | 0x7000U | (random[0] & 0x0fffU);
    const std::uint64_t low = (random[1] & 0x3fffffffffffffffULL) | 0x8000000000000000ULL;

    static constexpr char hex[] = "0123456789abcdef";
    std::string text(36, '-');
    std::size_t at = 0;
    for (int nibble = 0; nibble < 32; ++nibble) {
        if (nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20) ++at;
        const std::uint64_t half = nibble < 16 ? high : low;
        text[at++] = hex[(half >> (60 - 4 * (nibble % 16))) & 0xfU];
    }
    return text;
}

}  // namespace knell
