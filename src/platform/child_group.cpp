#include "platform/child_group.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>
#include <sys/wait.h>

namespace knell {

namespace {

std::string signal_name(int signal) {
    const auto* name = sigabbrev_np(signal);
    return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

}  // namespace

std::string to_text(const ChildExit& exit) {
    switch (exit.how) {
        case ChildExit::How::exited:
            return fmt::format("exit {}", exit.status);
        case ChildExit::How::signaled:
            return fmt::format("killed by {}", signal_name(exit.status));
        case ChildExit::How::lost:
            return "ended, and its exit status was lost";
    }
    return {};  // untestable: the switch names all there are
}

ChildGroup::~ChildGroup() {
    signal(SIGKILL);
    reap();
}

std::optional<ChildExit> ChildGroup::look() {
    siginfo_t info{};
    // Only looked at: until it is reaped nobody else can have the number of its group.
    constexpr int look = WEXITED | WNOHANG | WNOWAIT;
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, look) != 0) {
        if (errno != ECHILD) return std::nullopt;
        reap();  // somebody did: its number is not its own any more
        return ChildExit{ChildExit::How::lost, 0};
    }
    if (info.si_pid == 0) return std::nullopt;
    const bool exited = info.si_code == CLD_EXITED;
    return ChildExit{exited ? ChildExit::How::exited : ChildExit::How::signaled, info.si_status};
}

void ChildGroup::signal(int signal) const {
    if (pid_ > 0) ::kill(-pid_, signal);
}

bool ChildGroup::reap() {
    if (pid_ <= 0) return true;
    siginfo_t info{};
    const int looked = waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG);
    const bool gone = looked == 0 ? info.si_pid != 0 : errno == ECHILD;
    if (!gone) return false;
    pid_ = -1;
    pidfd_.reset();
    return true;
}

}  // namespace knell
