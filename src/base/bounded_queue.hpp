#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "base/mutex.hpp"

namespace knell {

/// Values from many threads to one.  Full is an answer, not a wait: the producer tells its caller.
template <typename T>
class BoundedQueue {
  public:
    /// `stamp` is called on each value as it enters, under the queue's lock: who stamps values with
    /// the time has them in the order of their stamps, and none of them older than what `pop_all`
    /// says it has taken.
    explicit BoundedQueue(std::size_t size_max, std::function<void(T&)> stamp = {})
        : size_max_(size_max), stamp_(std::move(stamp)) {}

    /// False when full or closed; `value` is left untouched then.  `reserve` is room past the bound
    /// for what matters more than the rest.
    [[nodiscard]] bool push(T&& value, std::size_t reserve = 0) {
        {
            const Lock lock(mutex_);
            if (closed_ || items_.size() >= size_max_ + reserve) return false;
            put(std::move(value));
        }
        ready_.notify_one();
        return true;
    }

    /// Past the bound: for the few producers whose word must not be lost and that are bounded by
    /// themselves.  Dropped only when closed.
    void push_always(T&& value) {
        {
            const Lock lock(mutex_);
            if (closed_) return;
            put(std::move(value));
        }
        ready_.notify_one();
    }

    /// Waits until there is something, or for `wait_max`, then swaps everything into `out` (cleared
    /// first).  False once the queue is closed and empty.  `at_swap` is called under the lock: all
    /// that was stamped before is in `out`, all that will be is not.
    bool pop_all(std::vector<T>& out,
                 std::optional<std::chrono::milliseconds> wait_max = std::nullopt,
                 const std::function<void()>& at_swap = {}) {
        out.clear();
        Lock lock(mutex_);
        const auto ready = [this]() KNELL_REQUIRES(mutex_) { return closed_ || !items_.empty(); };
        if (wait_max) {
            ready_.wait_for(lock, *wait_max, ready);
        } else {
            ready_.wait(lock, ready);
        }
        if (at_swap) at_swap();
        out.swap(items_);
        return !closed_ || !out.empty();
    }

    /// What is queued is still handed out; nothing new is taken.
    void close() {
        {
            const Lock lock(mutex_);
            closed_ = true;
        }
        ready_.notify_all();
    }

    std::size_t size() const {
        const Lock lock(mutex_);
        return items_.size();
    }

  private:
    void put(T&& value) KNELL_REQUIRES(mutex_) {
        if (stamp_) stamp_(value);
        items_.push_back(std::move(value));
    }

    const std::size_t size_max_;
    const std::function<void(T&)> stamp_;

    mutable Mutex mutex_;
    Condition ready_;
    std::vector<T> items_ KNELL_GUARDED_BY(mutex_);
    bool closed_ KNELL_GUARDED_BY(mutex_) = false;
};

}  // namespace knell
