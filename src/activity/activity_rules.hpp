#pragma once

#include <chrono>
#include <cstdint>

namespace knell {

/// A threshold with hysteresis: what is idle begins to work at `begin` a minute, and what works
/// goes on as long as it is at `keep`.  Without the gap something at the threshold would change its
/// class at every look.
template <typename Amount>
struct WorkThreshold {
    Amount begin;
    Amount keep;

    bool is_reached(Amount in_a_minute, bool works) const {
        return in_a_minute >= (works ? keep : begin);
    }
};

/// From when on something counts as work: amounts within the last minute, of the whole tree.  In
/// doubt it works: an idle server that is kept costs a process, work that is dropped is lost.
struct ActivityRules {
    /// So long nothing must have reached a threshold before it is idle.
    std::chrono::seconds quiet{60};
    std::chrono::seconds stale_after{30 * 60};
    /// Looks at a working process that are further apart than this say nothing about the time
    /// between them: the host was asleep, or we were stopped.  Twice the longest wait for a turn.
    std::chrono::seconds gap_max{60};

    /// 1 % of a core.  Python's http.server wakes twice a second for 0.01 %, an idle node or JVM
    /// stays below 0.5 %; what fetches and waits most of the time is above it.
    WorkThreshold<std::chrono::milliseconds> cpu{.begin = std::chrono::milliseconds{600},
                                                 .keep = std::chrono::milliseconds{300}};
    /// About 1 KiB a second.  A line of log now and then, or a timer that is read, is less; any
    /// copy is more.
    WorkThreshold<std::uint64_t> io_bytes{.begin = 64 * 1024, .keep = 16 * 1024};
    /// A page or a streamed answer is more; pings that keep a connection open are less.
    WorkThreshold<std::uint64_t> traffic_bytes{.begin = 4096, .keep = 1024};
    /// Somebody uses it; a health check every half minute does not.
    WorkThreshold<std::uint64_t> connections{.begin = 4, .keep = 3};
    /// A build or a loop that runs commands; `while sleep 60; do check; done` starts two a minute.
    WorkThreshold<std::uint64_t> new_processes{.begin = 4, .keep = 3};
    /// Looks in a row that find it runnable or blocked: one may be chance, a process that is denied
    /// the processor or waits for a dead server's disk is found so each time.
    std::uint32_t restless_looks = 2;
};

}  // namespace knell
