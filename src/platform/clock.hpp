#pragma once

#include <chrono>

#include "base/time.hpp"

namespace knell {

/// The real clocks: CLOCK_REALTIME for what is stored and shown, CLOCK_BOOTTIME for deadlines,
/// which unlike CLOCK_MONOTONIC goes on while the machine is asleep.
Now read_clocks();

/// Stands still while the machine is asleep.
SteadyTime read_awake_clock();

/// Goes on after a signal until all of `duration` has passed.
void sleep_for(std::chrono::nanoseconds duration);

}  // namespace knell
