#include "platform/spawn.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <type_traits>

#include <fcntl.h>
#include <sys/wait.h>

#include "platform/pidfd.hpp"
#include "platform/signals_blocked.hpp"

namespace knell {

namespace {

/// Not inlined: nothing that the caller keeps on its stack is changed under it.
[[gnu::noinline]] pid_t start_child(ChildPlan& plan, int report) {
    // As in posix_spawn, and for the same reasons; that can neither execute by descriptor nor ask
    // for a signal when we die.  NOLINTNEXTLINE(bugprone-unsafe-functions)
    const pid_t pid = vfork();
    if (pid != 0) return pid;
    const auto failure = plan.become();
    static_assert(std::is_trivially_copyable_v<SpawnFailure>);
    static_cast<void>(write(report, &failure, sizeof failure) == 0);
    _exit(127);
}

std::unexpected<SpawnFailure> failed_at(SpawnStep step) {
    return std::unexpected(SpawnFailure{step, errno});
}

void kill_and_reap(pid_t pid, bool leads_group) {
    if (waitid(P_PID, static_cast<id_t>(pid), nullptr, WEXITED | WNOHANG | WNOWAIT) != 0) {
        return;  // reaped by somebody else: the number may be another's by now
    }
    ::kill(leads_group ? -pid : pid, SIGKILL);
    // The one place that waits: for a process that is killed in its first moment.
    waitpid(pid, nullptr, 0);
}

}  // namespace

std::expected<Spawned, SpawnFailure> spawn(ChildSpec spec) {
    const bool leads_group = spec.group != ChildSpec::Group::inherited;
    // All are blocked while it shares our memory.
    spec.resets_signals = true;
    ChildPlan plan(std::move(spec));
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return failed_at(SpawnStep::descriptors);
    const Fd result{ends[0]};
    Fd low_report{ends[1]};
    // Closes when the program is executed, else gets the failure.
    Fd report{fcntl(low_report.get(), F_DUPFD_CLOEXEC, plan.first_free())};
    if (!report) return failed_at(SpawnStep::descriptors);
    low_report.reset();
    pid_t pid = -1;
    SpawnFailure failure{SpawnStep::fork, 0};
    {
        const SignalsBlocked blocked;  // it has our memory
        pid = start_child(plan, report.get());
        if (pid < 0) failure.error = errno;
    }
    if (pid < 0) return std::unexpected(failure);
    report.reset();
    if (read(result.get(), &failure, sizeof failure) > 0) {
        waitpid(pid, nullptr, 0);
        return std::unexpected(failure);
    }
    Fd pidfd{pidfd_open(pid, 0)};  // not reaped yet, so the number is still its own
    if (!pidfd) {
        auto failed = failed_at(SpawnStep::pidfd);
        kill_and_reap(pid, leads_group);
        return failed;
    }
    return Spawned{pid, std::move(pidfd)};
}

}  // namespace knell
