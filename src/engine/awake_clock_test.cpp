#include "engine/awake_clock.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

using namespace std::chrono_literals;

AwakeClock::Readings after(std::chrono::nanoseconds awake, std::chrono::nanoseconds boot,
                           std::chrono::milliseconds wall = 0ms) {
    return {WallTime{wall}, SteadyTime{awake}, SteadyTime{boot}};
}

TEST(AwakeClock, CountsWhatWasWatched) {
    AwakeClock clock(after(0s, 0s));
    const auto start = clock.read(after(0s, 0s)).steady;
    clock.read(after(300ms, 300ms));
    const auto now = clock.read(after(600ms, 600ms));

    EXPECT_EQ(now.steady - start, 600ms);
}

TEST(AwakeClock, AStalledDaemonBlamesNobody) {
    AwakeClock clock(after(0s, 0s));
    const auto start = clock.read(after(0s, 0s)).steady;
    const auto now = clock.read(after(60s, 60s));

    EXPECT_EQ(now.steady - start, AwakeClock::gap_max);
    EXPECT_EQ(now.boot, SteadyTime{60s});
}

TEST(AwakeClock, ASleepingHostDoesNotEither) {
    AwakeClock clock(after(0s, 0s));
    const auto start = clock.read(after(0s, 0s)).steady;
    const auto now = clock.read(after(100ms, 8h));

    EXPECT_EQ(now.steady - start, 100ms);
    EXPECT_EQ(now.boot, SteadyTime{8h});
}

TEST(AwakeClock, TheWallClockMayJumpEitherWay) {
    AwakeClock clock(after(0s, 0s, 1000000ms));
    const auto start = clock.read(after(0s, 0s, 1000000ms)).steady;
    EXPECT_EQ(clock.read(after(100ms, 100ms, 5ms)).steady - start, 100ms);
    EXPECT_EQ(clock.read(after(200ms, 200ms, 99999999ms)).steady - start, 200ms);
}

}  // namespace
}  // namespace knell
