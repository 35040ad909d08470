#pragma once

#include <chrono>
#include <string_view>

#include "base/time.hpp"

namespace knell {

/// The real clocks: CLOCK_REALTIME for what is stored and shown; CLOCK_BOOTTIME for how long
/// something took, sleep of the machine included.  Deadlines run on engine/awake_clock.hpp.
Now read_clocks();

/// Stands still while the machine is asleep.
SteadyTime read_awake_clock();

/// How far this process's time namespace is ahead of the machine's: what the kernel says of times
/// since boot, the start of a process among them, is shifted by this for us and must be taken back
/// before somebody in another time namespace can compare it.
struct TimeShift {
    std::chrono::nanoseconds awake{0};
    std::chrono::nanoseconds boot{0};
};
const TimeShift& time_shift();
/// The text of /proc/self/timens_offsets.
TimeShift parse_time_shift(std::string_view offsets);

}  // namespace knell
