#include "deliver/backoff.hpp"

#include <algorithm>
#include <cstdint>

namespace knell {

namespace {

using std::chrono::milliseconds;
constexpr milliseconds first_delay = std::chrono::seconds{5};
constexpr milliseconds delay_max = std::chrono::hours{6};

/// FNV-1a: small, and the same on every machine.
std::uint64_t mix(std::string_view text, std::uint64_t number) {
    constexpr std::uint64_t prime = 0x100000001b3U;
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const auto c : text) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
    for (int shift = 0; shift < 64; shift += 8) hash = (hash ^ (number >> shift & 0xffU)) * prime;
    return hash ^ hash >> 29U;
}

}  // namespace

milliseconds backoff(std::string_view subscriber, Seq seq, int failures) {
    auto delay = first_delay;
    for (int i = 1; i < failures && delay < delay_max; ++i) delay *= 4;
    delay = std::min(delay, delay_max);
    const auto draw = mix(subscriber, static_cast<std::uint64_t>(seq) * 64 +
                                          static_cast<std::uint64_t>(failures)) %
                      401;  // 0 to 400 thousandths
    return delay * (800 + static_cast<std::int64_t>(draw)) / 1000;
}

}  // namespace knell
