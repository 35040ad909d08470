#pragma once

#include <sys/types.h>

namespace knell::bench {

/// A process that does nothing until it is killed.
class Victim {
  public:
    Victim();
    ~Victim();
    Victim(const Victim&) = delete;
    Victim& operator=(const Victim&) = delete;

    pid_t pid() const { return pid_; }
    void kill() const;

  private:
    pid_t pid_;
};

/// Microseconds from SIGKILL until a pidfd of the killed process, held by us, is readable.
double pidfd_wake_up_us();

}  // namespace knell::bench
