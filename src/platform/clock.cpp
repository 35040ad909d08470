#include "platform/clock.hpp"

#include <ctime>

#include "base/check.hpp"

namespace knell {

namespace {

timespec read(clockid_t clock) {
    timespec time{};
    CHECK(::clock_gettime(clock, &time) == 0);
    return time;
}

}  // namespace

Now read_clocks() {
    using std::chrono::floor, std::chrono::milliseconds, std::chrono::nanoseconds,
        std::chrono::seconds;
    const auto wall = read(CLOCK_REALTIME);
    const auto steady = read(CLOCK_BOOTTIME);
    const auto since_epoch = seconds{wall.tv_sec} + nanoseconds{wall.tv_nsec};
    const SteadyTime since_boot{seconds{steady.tv_sec} + nanoseconds{steady.tv_nsec}};
    return {.wall = WallTime{floor<milliseconds>(since_epoch)},
            .steady = since_boot,
            .boot = since_boot};
}

SteadyTime read_awake_clock() {
    const auto time = read(CLOCK_MONOTONIC);
    return SteadyTime{std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec}};
}

}  // namespace knell
