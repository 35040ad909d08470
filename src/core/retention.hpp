#pragma once

#include <chrono>
#include <cstdint>

namespace knell {

/// How much of the log of events is kept: what is older or more goes, the oldest first.
struct Retention {
    std::chrono::hours keep_for{30 * 24};
    std::int64_t keep_count = 10'000'000;

    bool operator==(const Retention&) const = default;
};

}  // namespace knell
