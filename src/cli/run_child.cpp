#include "cli/run_child.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "cli/output.hpp"
#include "platform/child_plan.hpp"

namespace knell::cli {

namespace {

constexpr int never_ran = 125;
constexpr int cannot_execute = 126;
constexpr int not_found = 127;

void set_or_unset(const char* name, const std::string& value) {
    if (value.empty()) {
        // One of an outer `knell run` would be taken for ours.
        ::unsetenv(name);
    } else {
        ::setenv(name, value.c_str(), 1);
    }
}

/// Three texts, each with a zero at its end.
std::string pack(const RunEnvironment& environment) {
    std::string message;
    for (const auto* text :
         {&environment.session_id, &environment.generation, &environment.socket}) {
        message += *text;
        message += '\0';
    }
    return message;
}

void apply(const char* message) {
    for (const char* name : {"KNELL_SESSION_ID", "KNELL_GENERATION", "KNELL_SOCKET"}) {
        const std::string value = message;
        message += value.size() + 1;
        set_or_unset(name, value);
    }
    // That of a background process around us would hand what the command leaves behind to it.
    ::unsetenv("KNELL_PROCESS_ID");
}

[[noreturn]] void become_command(ChildPlan& plan, const std::string& name, int gate) {
    std::array<char, 16'384> message{};  // the last byte stays zero
    ssize_t size = 0;
    do {
        size = ::recv(gate, message.data(), message.size() - 1, 0);
    } while (size < 0 && errno == EINTR);
    if (size <= 0) ::_exit(never_ran);
    apply(message.data());
    const int error = plan.become().error;
    complain("run", fmt::format("{}: {}", name, std::generic_category().message(error)));
    ::_exit(error == ENOENT || error == ENOTDIR ? not_found : cannot_execute);
}

std::unexpected<Error> cannot_fork() {
    const int error = errno;
    return fail(ErrorCode::internal,
                fmt::format("cannot start a process: {}", std::generic_category().message(error)));
}

}  // namespace

Result<HeldChild> HeldChild::start(const std::vector<std::string>& command,
                                   const RunSignals& signals) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return cannot_fork();
    Fd ours{ends[0]};
    const Fd theirs{ends[1]};
    ChildPlan plan({.program = ProgramOnPath{command.front()}, .argv = command});
    // Not `spawn`, which waits for the program: this one waits for us before it becomes that.
    const pid_t pid = ::fork();
    if (pid < 0) return cannot_fork();
    if (pid == 0) {
        ours.reset();  // or the child would hold its own gate open
        signals.restore();
        become_command(plan, command.front(), theirs.get());
    }
    return HeldChild{pid, std::move(ours)};
}

void HeldChild::release(const RunEnvironment& environment) {
    const auto message = pack(environment);
    // Fails only when the child is dead by now, which the wait for it tells.
    ::send(gate_.get(), message.data(), message.size(), MSG_NOSIGNAL);
    gate_.reset();
}

void HeldChild::dismiss() {
    gate_.reset();
    reap();
}

void HeldChild::reap() {
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

}  // namespace knell::cli
