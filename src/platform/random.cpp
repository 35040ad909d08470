#include "platform/random.hpp"

#include <sys/random.h>

#include "base/check.hpp"

namespace knell {

std::array<std::uint64_t, 2> random_bits() {
    // One system call fills sixteen ids.  Nobody here goes on to make ids in a child after fork,
    // which would share what is left.
    thread_local std::array<std::uint64_t, 32> pool;
    thread_local std::size_t left = 0;
    if (left == 0) {
        // Up to 256 bytes come whole and without EINTR once the kernel's pool is ready.
        static_assert(sizeof pool <= 256);
        CHECK(::getrandom(pool.data(), sizeof pool, 0) == static_cast<ssize_t>(sizeof pool));
        left = pool.size();
    }
    left -= 2;
    return {pool[left], pool[left + 1]};
}

}  // namespace knell
