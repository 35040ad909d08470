#pragma once

#include <chrono>
#include <cstddef>

namespace knell {

/// The `processes` of the config: how many run in the background, and what is kept of them.
struct ProcessSettings {
    std::size_t per_session = 0;
    std::size_t max = 0;
    std::size_t output_bytes = 0;
    std::chrono::seconds stale_after{0};

    bool operator==(const ProcessSettings&) const = default;
};

}  // namespace knell
