#pragma once

#include <cstddef>
#include <functional>
#include <utility>

namespace knell::net {

/// How many bytes of one kind all connections together keep in memory.  The bound of each one does
/// not help when there are thousands.  One thread.
class MemoryBudget {
  public:
    /// `on_excess` is called each time the sum grows while it is above `bytes_max`.  It must not
    /// change what anybody holds before it returns.
    MemoryBudget(std::size_t bytes_max, std::function<void()> on_excess)
        : bytes_max_(bytes_max), on_excess_(std::move(on_excess)) {}

    /// Somebody held `before` and holds `now`.
    void change(std::size_t before, std::size_t now) {
        held_ = held_ - before + now;
        if (now > before && is_exceeded()) on_excess_();
    }

    bool is_exceeded() const { return held_ > bytes_max_; }
    std::size_t held() const { return held_; }

  private:
    const std::size_t bytes_max_;
    const std::function<void()> on_excess_;
    std::size_t held_ = 0;
};

/// One holder's part of a budget: given back when it goes.
class BudgetShare {
  public:
    explicit BudgetShare(MemoryBudget& budget) : budget_(budget) {}
    ~BudgetShare() { budget_.change(held_, 0); }
    BudgetShare(const BudgetShare&) = delete;
    BudgetShare& operator=(const BudgetShare&) = delete;

    void set(std::size_t bytes) { budget_.change(std::exchange(held_, bytes), bytes); }
    std::size_t held() const { return held_; }

  private:
    MemoryBudget& budget_;
    std::size_t held_ = 0;
};

}  // namespace knell::net
