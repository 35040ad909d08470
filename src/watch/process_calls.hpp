#pragma once

#include <csignal>
#include <functional>
#include <optional>

#include <poll.h>
#include <sys/types.h>

#include "platform/pidfd.hpp"
#include "platform/proc_stat.hpp"
#include "platform/proc_status.hpp"

namespace knell {

/// What the kernel is asked about one process.  Handed in, so that a test can have each answer and
/// each failure; all set errno as the real ones do.
struct ProcessCalls {
    std::function<int(pid_t)> pidfd_open = [](pid_t pid) { return ::pidfd_open(pid, 0); };
    /// Above 0: the process behind it has ended.
    std::function<int(int pidfd)> poll_pidfd = [](int pidfd) {
        pollfd look{.fd = pidfd, .events = POLLIN, .revents = 0};
        return ::poll(&look, 1, 0);
    };
    std::function<int(int pidfd, int signal)> send_signal = [](int pidfd, int signal) {
        return ::pidfd_send_signal(pidfd, signal, nullptr, 0);
    };
    std::function<std::optional<ProcStat>(pid_t)> stat = read_proc_stat;
    std::function<bool(pid_t)> has_living_thread = [](pid_t pid) {
        return knell::has_living_thread(pid);
    };
    /// Whether there is such a process at all, as kill(2) without a signal tells.
    std::function<int(pid_t)> probe = [](pid_t pid) { return ::kill(pid, 0); };
};

}  // namespace knell
