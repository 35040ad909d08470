#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "client/connection.hpp"
#include "platform/fd.hpp"
#include "platform/paths.hpp"

namespace knell::cli {

enum class Woken : std::uint8_t { ready, timed_out, told_to_stop };

/// Ctrl-C and SIGTERM as something to wait for, so that no line is cut in the middle.
class StopSignals {
  public:
    StopSignals();

    /// Waits until `fd` can be read; -1: only for the time.  The end of whoever reads our output
    /// counts as a stop: nobody would notice it otherwise until something happens.
    Woken wait_for(int fd, std::optional<std::chrono::milliseconds> wait_max = {}) const;

  private:
    Fd fd_;
};

/// Whether the next daemon may do what this one did not.
bool may_come_back(const Error& error);

/// Connects once a daemon answers.  Nothing when told to stop.
std::optional<client::Connection> wait_until_reachable(const Paths& paths, const StopSignals& stop);

}  // namespace knell::cli
