#pragma once

#include <optional>
#include <string>

#include "functional/harness/process.hpp"
#include "functional/harness/temp_home.hpp"

namespace knell::functional {

struct DaemonLimits {
    std::optional<rlim_t> descriptors_max;
    std::optional<rlim_t> file_bytes_max;
    std::vector<long> refused_calls;  // see Spawn
    int refused_with = ENOSYS;
};

/// `knell up` in the foreground, its log in a pipe.  Killed when this goes.
class Daemon {
  public:
    /// Starts it and waits until it listens; throws with its log when it does not.
    explicit Daemon(const TempHome& home, const DaemonLimits& limits = {});

    pid_t pid() const { return process_->pid(); }
    /// Reads the log until `text` is in it.
    void wait_for_log(std::string_view text);
    /// All that it has said so far.
    const std::string& log();
    /// Waits until it says something more, but only for a moment.
    void listen();

    void signal(int number) const { process_->signal(number); }
    /// SIGSTOP; it stands still when this returns.
    void freeze() const { process_->freeze(); }
    void kill9();
    /// SIGTERM; its exit status.
    int terminate();
    void start(const DaemonLimits& limits = {});
    /// `start` in two steps, for those who want to kill it in between.
    void launch(const DaemonLimits& limits = {});
    void wait_until_it_listens() { wait_for_log("listens at"); }
    /// A crash and a start.
    void restart();

  private:
    const TempHome& home_;
    std::optional<Process> process_;
    Fd log_pipe_;
    std::string log_;
};

/// `knell up` that is expected to give up: its exit status and its log.
Outcome refused_start(const TempHome& home);

}  // namespace knell::functional
