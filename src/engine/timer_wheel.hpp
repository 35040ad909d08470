#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/time.hpp"

namespace knell {

/// Deadlines by number (of a slot in the live table), O(1) to set, move and drop, and no cost for
/// what is not due.  Six levels of 64 buckets; the finest is 2^24 ns, about 17 ms, so a deadline
/// fires at most that late and never early.
class TimerWheel {
  public:
    using Number = std::uint32_t;

    void schedule(Number number, SteadyTime due);
    void cancel(Number number);
    bool contains(Number number) const;
    std::size_t size() const { return size_; }

    /// Moves the wheel to `now`; appends what fell due to `fired`, which is no longer scheduled.
    void advance(SteadyTime now, std::vector<Number>& fired);

  private:
    static constexpr unsigned tick_shift = 24;
    static constexpr unsigned level_bits = 6;
    static constexpr std::size_t level_count = 6;
    static constexpr std::size_t bucket_count = 1U << level_bits;
    static constexpr Number none = UINT32_MAX;

    /// 16 bytes: a tick of 2^48 is far beyond what a clock of nanoseconds can say.
    struct Node {
        std::int64_t tick : 48 = 0;
        std::uint64_t bucket : 16 = idle;
        Number previous = none;
        Number next = none;
        static constexpr std::uint16_t idle = UINT16_MAX;
    };
    static_assert(sizeof(Node) == 16);
    /// A tick that is scheduled is above 0 and unchanged by this, which shows g++ that it fits.
    static constexpr std::int64_t tick_mask = (INT64_C(1) << 47) - 1;

    static std::int64_t tick_of(SteadyTime time) {
        return time.time_since_epoch().count() >> tick_shift;
    }
    std::uint16_t bucket_for(std::int64_t tick) const;
    void link(Number number, std::uint16_t bucket);
    void cascade(std::size_t level, std::vector<Number>& fired);

    std::vector<Node> nodes_;
    std::array<Number, level_count * bucket_count> heads_ = [] {
        std::array<Number, level_count * bucket_count> heads{};
        heads.fill(none);
        return heads;
    }();
    std::int64_t current_ = 0;
    std::size_t size_ = 0;
};

}  // namespace knell
