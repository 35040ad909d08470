#pragma once

#include <cstdint>
#include <string_view>

namespace knell {

/// What this process costs, as the kernel counts it; 0 where that cannot be read.
struct OwnProcess {
    std::int64_t threads = 0;
    std::int64_t resident_bytes = 0;
    std::int64_t descriptors = 0;
    std::int64_t descriptors_max = 0;  // then no file and no connection can be opened

    bool operator==(const OwnProcess&) const = default;
};

OwnProcess read_own_process();

/// The parsing alone: threads and memory, out of /proc/self/status.
OwnProcess parse_own_status(std::string_view status);

}  // namespace knell
