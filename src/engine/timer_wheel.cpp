#include "engine/timer_wheel.hpp"

#include <algorithm>
#include <utility>

namespace knell {

bool TimerWheel::contains(Number number) const {
    return number < nodes_.size() && nodes_[number].bucket != Node::idle;
}

void TimerWheel::schedule(Number number, SteadyTime due) {
    if (number >= nodes_.size()) nodes_.resize(std::size_t{number} + 1);
    cancel(number);
    // Round up: a deadline is never early.
    nodes_[number].tick = std::max(tick_of(due) + 1, current_ + 1) & tick_mask;
    link(number, bucket_for(nodes_[number].tick));
    ++size_;
}

void TimerWheel::cancel(Number number) {
    if (!contains(number)) return;
    auto& node = nodes_[number];
    if (node.previous != none) {
        nodes_[node.previous].next = node.next;
    } else {
        heads_[node.bucket] = node.next;
    }
    if (node.next != none) nodes_[node.next].previous = node.previous;
    node = {};
    --size_;
}

std::uint16_t TimerWheel::bucket_for(std::int64_t tick) const {
    const auto distance = tick - current_;
    std::size_t level = 0;
    while (level + 1 < level_count && distance >= (INT64_C(1) << (level_bits * (level + 1)))) {
        ++level;
    }
    const auto index = (tick >> (level_bits * level)) & static_cast<std::int64_t>(bucket_count - 1);
    return static_cast<std::uint16_t>(level * bucket_count + static_cast<std::size_t>(index));
}

void TimerWheel::link(Number number, std::uint16_t bucket) {
    auto& node = nodes_[number];
    node.bucket = bucket;
    node.previous = none;
    node.next = heads_[bucket];
    if (node.next != none) nodes_[node.next].previous = number;
    heads_[bucket] = number;
}

void TimerWheel::cascade(std::size_t level, std::vector<Number>& fired) {
    const auto index =
        (current_ >> (level_bits * level)) & static_cast<std::int64_t>(bucket_count - 1);
    const auto bucket = level * bucket_count + static_cast<std::size_t>(index);
    auto number = std::exchange(heads_[bucket], none);
    while (number != none) {
        const auto next = nodes_[number].next;
        if (nodes_[number].tick <= current_) {
            nodes_[number] = {};
            --size_;
            fired.push_back(number);
        } else {
            link(number, bucket_for(nodes_[number].tick));
        }
        number = next;
    }
}

void TimerWheel::advance(SteadyTime now, std::vector<Number>& fired) {
    const auto target = tick_of(now);
    while (current_ < target) {
        if (size_ == 0) {
            current_ = target;
            return;
        }
        ++current_;
        // A coarser level comes round when all finer ones have.
        for (std::size_t level = level_count; level-- > 1;) {
            const auto mask = (INT64_C(1) << (level_bits * level)) - 1;
            if ((current_ & mask) == 0) cascade(level, fired);
        }
        cascade(0, fired);
    }
}

}  // namespace knell
