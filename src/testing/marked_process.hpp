#pragma once

#include <sys/types.h>

#include "deliver/hook/run.hpp"

namespace knell::testing {

/// A process that leads a session, with the cookie of a hook's run in its environment.  Killed when
/// this goes.
class MarkedProcess {
  public:
    /// `group_off`: how far the group in the cookie is from its own.
    explicit MarkedProcess(const HookRun& run, pid_t group_off = 0);
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
