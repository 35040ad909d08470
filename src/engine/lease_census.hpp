#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <unordered_map>

#include "base/time.hpp"

namespace knell {

/// How many leases there are and how many fall due when, kept in step with every renewal, so that
/// "more than half at once" can be seen before the first of them is reaped.
class LeaseCensus {
  public:
    /// Fewer leases than this may all fall due together by chance.
    static constexpr std::size_t leases_min = 20;
    static constexpr std::chrono::seconds window{1};

    void add(SteadyTime due) {
        const auto bucket = bucket_of(due);
        oldest_ = total_ == 0 ? bucket : std::min(oldest_, bucket);
        ++total_;
        ++due_[bucket];
    }
    void remove(SteadyTime due) {
        --total_;
        const auto found = due_.find(bucket_of(due));
        if (--found->second == 0) due_.erase(found);
    }
    std::size_t total() const { return total_; }

    /// More than half of all leases fall due within one second from `from`, or are overdue because
    /// nothing could be decided about them yet: no crowd of owners dies like that; the fault is
    /// ours or the network's.
    bool is_mass_expiry(SteadyTime from) {
        if (total_ < leases_min) return false;
        std::size_t falling = 0;
        const auto last = bucket_of(from + window);
        while (oldest_ < last && !due_.contains(oldest_)) ++oldest_;
        for (auto bucket = oldest_; bucket <= last; ++bucket) {
            const auto found = due_.find(bucket);
            if (found != due_.end()) falling += found->second;
        }
        return falling * 2 > total_;
    }

  private:
    static std::int64_t bucket_of(SteadyTime time) { return time.time_since_epoch().count() >> 27; }

    std::size_t total_ = 0;
    std::int64_t oldest_ = 0;                              // no lease falls due before this bucket
    std::unordered_map<std::int64_t, std::uint32_t> due_;  // per 134 ms
};

}  // namespace knell
