#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "cli/run_signals.hpp"
#include "core/error.hpp"
#include "platform/fd.hpp"

namespace knell::cli {

/// What the command finds in its environment.
struct RunEnvironment {
    std::string session_id;
    std::string generation;  // "": not known, and the variable is unset
    std::string socket;
};

/// The command's process, made before its session so that the session has an owner from its first
/// moment, and held back until the session is there.
class HeldChild {
  public:
    static Result<HeldChild> start(const std::vector<std::string>& command,
                                   const RunSignals& signals);

    pid_t pid() const { return pid_; }
    /// Lets it become the command.
    void release(const RunEnvironment& environment);
    /// Lets it go without having been the command, and reaps it.
    void dismiss();
    /// Once its end is recorded; it is dead by then.
    void reap();

  private:
    HeldChild(pid_t pid, Fd gate) : pid_(pid), gate_(std::move(gate)) {}

    pid_t pid_;
    Fd gate_;  // when it closes without a message, also because we died, the child leaves
};

}  // namespace knell::cli
