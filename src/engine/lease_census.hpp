#pragma once

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
        ++total_;
        ++due_[bucket_of(due)];
    }
    void remove(SteadyTime due) {
        --total_;
        const auto found = due_.find(bucket_of(due));
        if (--found->second == 0) due_.erase(found);
    }
    std::size_t total() const { return total_; }

    /// More than half of all leases fall due within one second from `from`: no crowd of owners dies
    /// like that; the fault is ours or the network's.
    bool is_mass_expiry(SteadyTime from) const {
        if (total_ < leases_min) return false;
        std::size_t falling = 0;
        const auto first = bucket_of(from) - 1;  // the lateness of the wheel
        const auto last = bucket_of(from + window);
        for (auto bucket = first; bucket <= last; ++bucket) {
            const auto found = due_.find(bucket);
            if (found != due_.end()) falling += found->second;
        }
        return falling * 2 > total_;
    }

  private:
    static std::int64_t bucket_of(SteadyTime time) { return time.time_since_epoch().count() >> 27; }

    std::size_t total_ = 0;
    std::unordered_map<std::int64_t, std::uint32_t> due_;  // per 134 ms
};

}  // namespace knell
