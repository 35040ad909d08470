#pragma once

#include <malloc.h>

namespace knell {

/// For a process that lives long: a table that has grown gives its old block back to the system.
/// glibc would raise the size from which it does so with each block that is freed, and keep the
/// holes: 11 bytes for each of a million sessions.
inline void give_large_blocks_back() {
    constexpr int bytes_from = 1 << 20;
    ::mallopt(M_MMAP_THRESHOLD, bytes_from);
}

}  // namespace knell
