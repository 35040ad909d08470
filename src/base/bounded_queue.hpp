#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

namespace knell {

/// Values from many threads to one.  Full is an answer, not a wait: the producer tells its caller.
template <typename T>
class BoundedQueue {
  public:
    explicit BoundedQueue(std::size_t size_max) : size_max_(size_max) {}

    /// False when full or closed; `value` is left untouched then.
    [[nodiscard]] bool push(T&& value) {
        {
            const std::lock_guard lock(mutex_);
            if (closed_ || items_.size() >= size_max_) return false;
            items_.push_back(std::move(value));
        }
        ready_.notify_one();
        return true;
    }

    /// Past the bound: for the few producers whose word must not be lost and that are bounded by
    /// themselves.  Dropped only when closed.
    void push_always(T&& value) {
        {
            const std::lock_guard lock(mutex_);
            if (closed_) return;
            items_.push_back(std::move(value));
        }
        ready_.notify_one();
    }

    /// Waits until there is something, or for `wait_max`, then swaps everything into `out` (cleared
    /// first).  False once the queue is closed and empty.
    bool pop_all(std::vector<T>& out,
                 std::optional<std::chrono::milliseconds> wait_max = std::nullopt) {
        out.clear();
        std::unique_lock lock(mutex_);
        const auto ready = [this] { return closed_ || !items_.empty(); };
        if (wait_max) {
            ready_.wait_for(lock, *wait_max, ready);
        } else {
            ready_.wait(lock, ready);
        }
        out.swap(items_);
        return !closed_ || !out.empty();
    }

    /// What is queued is still handed out; nothing new is taken.
    void close() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
        }
        ready_.notify_all();
    }

    std::size_t size() const {
        const std::lock_guard lock(mutex_);
        return items_.size();
    }

  private:
    const std::size_t size_max_;

    mutable std::mutex mutex_;  // guards all below
    std::condition_variable ready_;
    std::vector<T> items_;
    bool closed_ = false;
};

}  // namespace knell
