#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "core/background_process.hpp"
#include "core/event.hpp"

namespace knell {

/// How many background processes have come on record and ended since this daemon came up.  Counted
/// on one thread, read on any.
struct ProcessCounts {
    std::atomic<std::uint64_t> starts = 0;
    std::array<std::atomic<std::uint64_t>, exit_kind_names.size()> exits{};

    void count(const std::vector<Event>& events) {
        for (const auto& event : events) {
            if (event.type == EventType::process_start) ++starts;
            if (event.type != EventType::process_exit || !event.process) continue;
            if (const auto& exit = event.process->exit) {
                ++exits.at(static_cast<std::size_t>(exit->kind));
            }
        }
    }
};

}  // namespace knell
