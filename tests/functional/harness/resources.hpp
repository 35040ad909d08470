#pragma once

#include <cstddef>

#include <sys/types.h>

namespace knell::functional {

/// A sanitizer keeps what was freed, and so says nothing of memory.
inline constexpr bool is_sanitized =
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    true ||
#endif
#endif
    false;

/// What a process takes of the machine, as the kernel says it.
struct Resources {
    std::size_t memory = 0;  // bytes that are resident
    std::size_t threads = 0;
    std::size_t descriptors = 0;
};
Resources resources_of(pid_t pid);
/// Of it only the resident memory.
std::size_t memory_of(pid_t pid);

/// Lets the test have as many descriptors as it may: how many.
std::size_t raise_descriptor_limit();

}  // namespace knell::functional
