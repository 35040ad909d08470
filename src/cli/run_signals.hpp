#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include <signal.h>
#include <sys/types.h>

namespace knell::cli {

/// Whether this process has children already: a shell that started some and then became us by exec.
/// Asked before the command is started, because they are not what it leaves behind.
bool has_children();

/// From now on what the command's children leave behind when they die comes to us rather than to
/// init, so that it can be found even when it shook off its environment and its session.
void adopt_orphans();

/// What asked a command to end before it did: a person or a program, not the command itself.
struct Interruption {
    int signal = 0;                  // SIGHUP, SIGINT, SIGQUIT, SIGTERM; 0: only the terminal went
    bool by_terminal = false;        // by its keys, or because it was closed
    std::chrono::seconds before{0};  // so long before the end
};

struct RunOutcome {
    int wait_status = 0;  // as of waitpid(2)
    /// The last one.  After it a command may exit with 0, which alone looks as if it was done.
    std::optional<Interruption> interruption;
};

/// Keeps `knell run` alive and out of the way: signals are held back and taken one by one, so that
/// none can end the wrapper before its command, and what the command inherits is what we did.
///
/// Made before the fork.  One per process.
class RunSignals {
  public:
    RunSignals();

    /// In the child, before exec: the mask and the dispositions that we were started with.
    void restore() const;

    /// Waits for the child to end, passing on to it what was sent to us, and stopping when it
    /// stops.  Orphans that end meanwhile are reaped.
    ///
    /// The child itself is not reaped: as long as it is there, a daemon that comes up only now can
    /// still see how it ended.
    ///
    /// `tend` is called at first and whenever a signal was taken, such as that another child has
    /// ended, and again after the time that it gives.
    using Tend = std::function<std::optional<std::chrono::milliseconds>()>;
    RunOutcome wait_for(pid_t child, const Tend& tend) const;

  private:
    int take_signal(siginfo_t& info, std::optional<std::chrono::milliseconds> wait) const;

    const bool had_terminal_;
    sigset_t held_{};
    sigset_t mask_before_{};
    struct sigaction child_before_{};
    struct sigaction file_size_before_{};
};

/// Ends this process as the child ended: by the same signal, or gives its exit code to return.
int end_like(int wait_status);

}  // namespace knell::cli
