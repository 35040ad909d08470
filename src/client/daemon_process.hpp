#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "client/deadline.hpp"
#include "core/error.hpp"
#include "platform/fd.hpp"
#include "platform/paths.hpp"

namespace knell::client {

/// A daemon on its way up, seen by the process that started it.
///
/// Between the two stands a launcher process that waits for the daemon and tells how it exited.
/// When this object goes, so does the launcher, and the daemon belongs to init: a `knell run` that
/// lasts for days must not keep it as a child, dead or alive.
class DaemonProcess {
  public:
    /// `variables`: those of our environment that it gets besides the usual ones; `options`: of its
    /// `knell up`.
    static Result<DaemonProcess> launch(const Paths& paths,
                                        const std::vector<std::string>& variables,
                                        const std::vector<std::string>& options);
    DaemonProcess(DaemonProcess&&) = default;
    DaemonProcess& operator=(DaemonProcess&&) = delete;
    ~DaemonProcess();

    /// -1 when there was none from the start.
    pid_t pid() const { return pid_; }
    /// Waits at most `step`, and not past the deadline.  The wait status as of waitpid(2) once the
    /// daemon is gone.
    std::optional<int> wait_for_exit(std::chrono::milliseconds step, const Deadline& deadline);

  private:
    DaemonProcess(pid_t launcher, Fd link) : launcher_(launcher), link_(std::move(link)) {}

    void learn_pid();

    pid_t launcher_ = -1;
    pid_t pid_ = -1;
    Fd link_;  // the launcher leaves when this end is closed
    std::optional<int> exit_status_;
};

}  // namespace knell::client
