#include "engine/timer_wheel.hpp"

#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace knell {
namespace {

using namespace std::chrono_literals;

SteadyTime at(std::chrono::nanoseconds since) {
    return SteadyTime{since};
}

/// Against a plain map: nothing fires early, nothing fires later than a tick, nothing is lost.
RC_GTEST_PROP(TimerWheel, FiresEachDeadlineOnceAndInTime, ()) {
    TimerWheel wheel;
    std::map<TimerWheel::Number, SteadyTime> model;
    auto now = at(std::chrono::seconds(*rc::gen::inRange(0, 1'000'000)));
    std::vector<TimerWheel::Number> fired;
    wheel.advance(now, fired);
    const auto steps = *rc::gen::inRange(1, 60);
    for (int step = 0; step < steps; ++step) {
        const auto number = *rc::gen::inRange<TimerWheel::Number>(0, 20);
        switch (*rc::gen::inRange(0, 4)) {
            case 0:
            case 1: {
                // From milliseconds to years, so that every level is used.
                const auto exponent = *rc::gen::inRange(0, 36);
                const auto delay = std::chrono::milliseconds(
                    *rc::gen::inRange<std::int64_t>(0, INT64_C(1) << exponent));
                wheel.schedule(number, now + delay);
                model[number] = now + delay;
                break;
            }
            case 2:
                wheel.cancel(number);
                model.erase(number);
                break;
            default: {
                const auto exponent = *rc::gen::inRange(0, 19);
                now += std::chrono::milliseconds(
                    *rc::gen::inRange<std::int64_t>(0, INT64_C(1) << exponent));
                fired.clear();
                wheel.advance(now, fired);
                for (const auto one : fired) {
                    RC_ASSERT(model.contains(one));
                    RC_ASSERT(model[one] <= now);
                    model.erase(one);
                }
                for (const auto& [left, due] : model) RC_ASSERT(due + 34ms > now);
            }
        }
        RC_ASSERT(wheel.size() == model.size());
    }
}

TEST(TimerWheel, ARescheduledNumberFiresOnlyAtItsNewTime) {
    TimerWheel wheel;
    std::vector<TimerWheel::Number> fired;
    wheel.schedule(3, at(1s));
    wheel.schedule(3, at(10s));
    wheel.advance(at(9s), fired);
    EXPECT_TRUE(fired.empty());
    wheel.advance(at(11s), fired);
    EXPECT_EQ(fired, std::vector<TimerWheel::Number>{3});
    EXPECT_FALSE(wheel.contains(3));
}

}  // namespace
}  // namespace knell
