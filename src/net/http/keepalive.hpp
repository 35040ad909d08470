#pragma once

#include <chrono>
#include <cstdint>

#include "base/time.hpp"

namespace knell::net::http {

/// Finds out whether a client that says nothing is still there: one whose network went away hangs
/// up in no other way.
///
/// States: *heard* (it said something, or was not listened to, less than half of `silence_max`
/// ago), *asked* (it was sent a ping then and has the other half to answer), *lost*.  Whatever it
/// says takes it back to heard.
///
/// Pure: time is handed in, of a clock that stands still while the machine sleeps.  A step that
/// comes late is our own delay, and the client gets it added: what it said meanwhile may not have
/// been read yet.
class Keepalive {
  public:
    Keepalive(std::chrono::nanoseconds silence_max, SteadyTime now)
        : half_(silence_max / 2), due_(now + half_) {}

    /// It said something; or nobody listened to it until now.
    void heard(SteadyTime now) {
        is_asked_ = false;
        due_ = now + half_;
    }

    enum class Step : std::uint8_t {
        wait,     // until `due`
        ping,     // ask it now, then wait until `due`
        give_up,  // it is not there
    };
    Step step(SteadyTime now);

    /// When the next step is to be made, unless it is heard before: then later.
    SteadyTime due() const { return due_; }

  private:
    std::chrono::nanoseconds half_;
    SteadyTime due_;
    bool is_asked_ = false;
};

}  // namespace knell::net::http
