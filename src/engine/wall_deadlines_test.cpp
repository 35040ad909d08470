#include "engine/wall_deadlines.hpp"

#include <map>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace knell {
namespace {

WallTime at(std::int64_t seconds) {
    return from_millis(seconds * 1000);
}

/// Against a plain map, while the clock goes both ways.
template <typename Deadlines, typename Number>
void compare_with_a_map() {
    Deadlines deadlines;
    std::map<Number, WallTime> model;
    const auto steps = *rc::gen::inRange(1, 200);
    for (int step = 0; step < steps; ++step) {
        const auto number = *rc::gen::inRange<Number>(0, 30);
        if (*rc::gen::inRange(0, 3) > 0) {
            const auto due = at(*rc::gen::inRange(0, 50));
            deadlines.schedule(number, due);
            model[number] = due;
        } else {
            deadlines.cancel(number);
            model.erase(number);
        }
        std::set<std::pair<WallTime, Number>> in_order;
        for (const auto& [known, due] : model) in_order.emplace(due, known);
        RC_ASSERT(deadlines.size() == model.size());
        RC_ASSERT(deadlines.next() ==
                  (in_order.empty() ? std::nullopt : std::optional(in_order.begin()->first)));
        const auto now = at(*rc::gen::inRange(0, 50));
        const bool is_due = !in_order.empty() && in_order.begin()->first <= now;
        RC_ASSERT(deadlines.due(now) ==
                  (is_due ? std::optional(in_order.begin()->second) : std::nullopt));
        for (Number known = 0; known < 30; ++known) {
            const auto found = model.find(known);
            RC_ASSERT(deadlines.of(known) ==
                      (found == model.end() ? std::nullopt : std::optional(found->second)));
        }
    }
    // All fall due, in their order.
    auto last = at(0);
    while (const auto number = deadlines.due(at(50))) {
        RC_ASSERT(model.at(*number) >= last);
        last = model.at(*number);
        deadlines.cancel(*number);
        model.erase(*number);
    }
    RC_ASSERT(model.empty());
}

RC_GTEST_PROP(WallDeadlines, OfFewNumbersAreWhatAMapWouldSay, ()) {
    compare_with_a_map<WallDeadlines<std::int64_t, SparsePositions>, std::int64_t>();
}

RC_GTEST_PROP(WallDeadlines, OfSlotsAreWhatAMapWouldSay, ()) {
    compare_with_a_map<WallDeadlines<std::uint32_t, DensePositions>, std::uint32_t>();
}

}  // namespace
}  // namespace knell
