#include "platform/random.hpp"

#include <sys/random.h>

#include "base/check.hpp"

namespace knell {

std::array<std::uint64_t, 2> random_bits() {
    std::array<std::uint64_t, 2> bits{};
    // Up to 256 bytes come whole and without EINTR once the kernel's pool is ready.
    CHECK(::getrandom(bits.data(), sizeof bits, 0) == static_cast<ssize_t>(sizeof bits));
    return bits;
}

}  // namespace knell
