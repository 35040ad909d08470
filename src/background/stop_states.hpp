#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "base/mutex.hpp"
#include "core/background_process.hpp"
#include "core/stop_state.hpp"

namespace knell {

/// Which background processes are being stopped, and what was left of those that were.  A stop goes
/// through
///
///   ordered ─▶ begun ─▶ ended
///
/// Orders that come while one is under way join it: it has begun once, and ends once.  What was
/// left is kept until the next order, of so many processes at most.  Any thread.
class StopStates {
  public:
    static constexpr std::size_t left_max = 1024;

    void ordered(const ProcessId& id) {
        const Lock lock(mutex_);
        ++ordered_[id];
        left_.erase(id);
    }
    void begun(const ProcessId& id) {
        const Lock lock(mutex_);
        --ordered_[id];
    }
    /// `left`: what still runs of it, and why.
    void ended(const ProcessId& id, std::string left) {
        const Lock lock(mutex_);
        const auto stop = ordered_.find(id);
        // Whoever ordered it meanwhile hears of that stop, not of this one.
        if (stop == ordered_.end() || stop->second > 0) return;
        ordered_.erase(stop);
        if (!left.empty()) keep(id, std::move(left));
    }
    StopState of(const ProcessId& id) const {
        const Lock lock(mutex_);
        const auto left = left_.find(id);
        return {.is_stopping = ordered_.contains(id),
                .left = left == left_.end() ? std::string() : left->second};
    }

  private:
    void keep(const ProcessId& id, std::string left) KNELL_REQUIRES(mutex_) {
        if (left_.insert_or_assign(id, std::move(left)).second) order_.push_back(id);
        // One that was ordered again is in the order twice, and may be forgotten a little early.
        while (order_.size() > left_max) {
            left_.erase(order_.front());
            order_.pop_front();
        }
    }

    mutable Mutex mutex_;
    /// Orders that have not begun; there from the first order to the end.
    std::map<ProcessId, int> ordered_ KNELL_GUARDED_BY(mutex_);
    std::map<ProcessId, std::string> left_ KNELL_GUARDED_BY(mutex_);
    std::deque<ProcessId> order_ KNELL_GUARDED_BY(mutex_);
};

}  // namespace knell
