#pragma once

#include "base/time.hpp"

namespace knell {

/// The real clocks: CLOCK_REALTIME for what is stored and shown; CLOCK_BOOTTIME for how long
/// something took, sleep of the machine included.  Deadlines run on engine/awake_clock.hpp.
Now read_clocks();

/// Stands still while the machine is asleep.
SteadyTime read_awake_clock();

}  // namespace knell
