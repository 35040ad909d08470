#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/time.hpp"

namespace knell {

/// Where each number stands in the heap, for numbers that are dense, as slots are: 4 bytes each.
class DensePositions {
  public:
    static constexpr std::uint32_t none = UINT32_MAX;

    std::uint32_t find(std::uint32_t number) const {
        return number < positions_.size() ? positions_[number] : none;
    }
    void set(std::uint32_t number, std::uint32_t position) {
        if (number >= positions_.size()) positions_.resize(std::size_t{number} + 1, none);
        positions_[number] = position;
    }
    void erase(std::uint32_t number) { positions_[number] = none; }

  private:
    std::vector<std::uint32_t> positions_;
};

/// The same for few numbers that may be anything.
class SparsePositions {
  public:
    static constexpr std::uint32_t none = UINT32_MAX;

    std::uint32_t find(std::int64_t number) const {
        const auto found = positions_.find(number);
        return found == positions_.end() ? none : found->second;
    }
    void set(std::int64_t number, std::uint32_t position) { positions_[number] = position; }
    void erase(std::int64_t number) { positions_.erase(number); }

  private:
    std::unordered_map<std::int64_t, std::uint32_t> positions_;
};

/// What falls due by the clock on the wall, one deadline a number: a heap with the first on top.
///
/// A wheel goes one way only; this clock may be set in both.  Nothing is moved when it is: a
/// deadline is compared with the clock as it stands when it is asked for.  So a step ahead lets
/// what it passed over fall due once, and a step back lets the rest wait for its hour again.
/// O(log n) to set, move and drop; O(1) to see that nothing is due.
template <typename Number, typename Positions>
class WallDeadlines {
  public:
    /// Sets it, or moves it.
    void schedule(Number number, WallTime due) {
        auto at = positions_.find(number);
        if (at == Positions::none) {
            at = static_cast<std::uint32_t>(heap_.size());
            heap_.push_back({due, number});
        } else {
            heap_[at].due = due;
        }
        settle(at);
    }
    void cancel(Number number) {
        const auto at = positions_.find(number);
        if (at == Positions::none) return;
        positions_.erase(number);
        const auto last = heap_.back();
        heap_.pop_back();
        if (at == heap_.size()) return;
        heap_[at] = last;
        settle(at);
    }

    std::size_t size() const { return heap_.size(); }
    std::optional<WallTime> of(Number number) const {
        const auto at = positions_.find(number);
        if (at == Positions::none) return std::nullopt;
        return heap_[at].due;
    }
    /// When the first is due.
    std::optional<WallTime> next() const {
        if (heap_.empty()) return std::nullopt;
        return heap_.front().due;
    }
    /// The first of those that are due at `now`; it stays until it is moved or dropped.
    std::optional<Number> due(WallTime now) const {
        if (heap_.empty() || heap_.front().due > now) return std::nullopt;
        return heap_.front().number;
    }

  private:
    struct Entry {
        WallTime due;
        Number number;
        /// Of several at one time the lowest number: what is decided must not depend on the order
        /// in which they came.
        friend auto operator<=>(const Entry&, const Entry&) = default;
    };

    /// What stands there goes up or down to where it belongs.
    void settle(std::uint32_t at) {
        const auto entry = heap_[at];
        while (at > 0 && entry < heap_[(at - 1) / 2]) {
            put((at - 1) / 2, at);
            at = (at - 1) / 2;
        }
        for (;;) {
            auto child = 2 * at + 1;
            if (child >= heap_.size()) break;
            if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
            if (!(heap_[child] < entry)) break;
            put(child, at);
            at = child;
        }
        heap_[at] = entry;
        positions_.set(entry.number, at);
    }
    void put(std::uint32_t from, std::uint32_t to) {
        heap_[to] = heap_[from];
        positions_.set(heap_[to].number, to);
    }

    std::vector<Entry> heap_;
    Positions positions_;
};

}  // namespace knell
