#pragma once

#include <string_view>

#include <sys/types.h>

#include "platform/marked_run.hpp"

namespace knell::testing {

/// A process that leads a session, with the mark of a run in its environment.  Killed when this
/// goes.
class MarkedProcess {
  public:
    /// `group_off`: how far the group in the mark is from its own.
    MarkedProcess(std::string_view variable, const MarkedRun& run, pid_t group_off = 0);
    ~MarkedProcess();
    MarkedProcess(const MarkedProcess&) = delete;
    MarkedProcess& operator=(const MarkedProcess&) = delete;

    pid_t pid() const { return pid_; }
    /// Somebody has killed it.
    void wait();

  private:
    pid_t pid_;
};

}  // namespace knell::testing
