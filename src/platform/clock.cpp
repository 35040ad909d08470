#include "platform/clock.hpp"

#include <ctime>
#include <sstream>
#include <string>

#include "base/check.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

timespec read(clockid_t clock) {
    timespec time{};
    CHECK(::clock_gettime(clock, &time) == 0);
    return time;
}

}  // namespace

TimeShift parse_time_shift(std::string_view offsets) {
    TimeShift shift;
    std::istringstream lines{std::string(offsets)};
    std::string name;
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    while (lines >> name >> seconds >> nanoseconds) {
        const auto by = std::chrono::seconds{seconds} + std::chrono::nanoseconds{nanoseconds};
        if (name == "monotonic") shift.awake = by;
        if (name == "boottime") shift.boot = by;
    }
    return shift;
}

const TimeShift& time_shift() {
    // A kernel without time namespaces has no such file, and no shift.
    static const auto shift =
        parse_time_shift(read_small_file("/proc/self/timens_offsets").value_or(""));
    return shift;
}

Now read_clocks() {
    using std::chrono::floor, std::chrono::milliseconds, std::chrono::nanoseconds,
        std::chrono::seconds;
    const auto wall = read(CLOCK_REALTIME);
    const auto steady = read(CLOCK_BOOTTIME);
    const auto since_epoch = seconds{wall.tv_sec} + nanoseconds{wall.tv_nsec};
    const SteadyTime since_boot{seconds{steady.tv_sec} + nanoseconds{steady.tv_nsec} -
                                time_shift().boot};
    return {.wall = WallTime{floor<milliseconds>(since_epoch)},
            .steady = since_boot,
            .boot = since_boot};
}

SteadyTime read_awake_clock() {
    const auto time = read(CLOCK_MONOTONIC);
    return SteadyTime{std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec} -
                      time_shift().awake};
}

}  // namespace knell
