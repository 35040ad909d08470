#pragma once

#include <algorithm>
#include <chrono>

#include "base/time.hpp"

namespace knell {

/// Time that passes only while somebody is looking.
///
/// Deadlines run on this clock, so the daemon's own stalls (stopped, swapped out, stuck in a slow
/// sync) and the host's sleep are added to every one of them by construction: a lease holder is
/// never blamed for time in which its renewal could not have been heard.  It must be read at least
/// every `gap_max` while deadlines are pending; a longer gap counts as `gap_max`.  A reading older
/// than the last one, of something that arrived meanwhile, does not move it.
class AwakeClock {
  public:
    static constexpr std::chrono::milliseconds gap_max{500};

    struct Readings {
        WallTime wall;
        SteadyTime awake;  // stands still while the host sleeps
        SteadyTime boot;   // goes on
    };

    /// Goes on from `start`, where the clock of the daemon before stood.
    explicit AwakeClock(const Readings& first, SteadyTime start = SteadyTime{std::chrono::hours{1}})
        : last_(first), now_(start) {}

    Now read(const Readings& readings) {
        const auto counted = std::clamp<std::chrono::nanoseconds>(
            readings.awake - last_.awake, std::chrono::nanoseconds{0}, gap_max);
        if (readings.awake >= last_.awake) last_ = readings;
        now_ += counted;
        return {.wall = readings.wall, .steady = now_, .boot = readings.boot};
    }

    /// As it was read last.
    Now last() const { return {.wall = last_.wall, .steady = now_, .boot = last_.boot}; }

  private:
    Readings last_;
    SteadyTime now_;
};

}  // namespace knell
