#include "client/daemon_process.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "client/daemon_environment.hpp"
#include "platform/child_plan.hpp"
#include "platform/directories.hpp"
#include "platform/file_kind.hpp"

namespace knell::client {

namespace {

std::unexpected<Error> cannot_start(std::string_view what) {
    const int error = errno;
    return fail(ErrorCode::internal, fmt::format("cannot start a daemon: {}: {}", what,
                                                 std::generic_category().message(error)));
}

/// The daemon's directory is /, so a path that was relative to ours has to be spelled out.  The
/// session that happens to start a daemon is nothing to that daemon or its hooks.
std::vector<std::string> environment_of(const Paths& paths,
                                        const std::vector<std::string>& variables) {
    auto environment = daemon_environment(environ, variables);
    for (auto& entry : environment) {
        if (entry.starts_with("KNELL_HOME=")) entry = "KNELL_HOME=" + paths.state_dir;
    }
    return environment;
}

/// Without a group of its own: it is not the leader of the launcher's session, so that no terminal
/// it opens can become its own.
ChildSpec daemon_spec(const Paths& paths, const std::vector<std::string>& variables,
                      const std::vector<std::string>& options, int log) {
    std::vector<std::string> argv{"knell", "up"};
    argv.insert(argv.end(), options.begin(), options.end());
    return {.program = ProgramAt{"/proc/self/exe"},
            .argv = std::move(argv),
            .environment = environment_of(paths, variables),
            .descriptors = {{log, STDOUT_FILENO}, {log, STDERR_FILENO}},
            .null_descriptors = {STDIN_FILENO},
            .closes_others = true,
            .directory_path = "/",
            .resets_signals = true,
            .resets_limits = true,
            .umask = 077};
}

/// In the daemon's process, before it is one.
[[noreturn]] void become_daemon(ChildPlan& plan) {
    const auto failure = plan.become();
    if (failure.step != SpawnStep::program) ::_exit(126);
    const auto message = fmt::format("knell up: cannot execute /proc/self/exe: {}\n",
                                     std::generic_category().message(failure.error));
    (void)!::write(STDERR_FILENO, message.data(), message.size());
    ::_exit(127);
}

/// In the launcher: leaves when the daemon is gone, or when the starter has seen enough.
[[noreturn]] void launch_and_watch(ChildPlan& plan, int link) {
    ::setsid();
    reset_signals();
    // Not by a pidfd, which not every kernel or sandbox grants: the daemon is our only child.
    struct sigaction on_end{};
    on_end.sa_handler = SIG_DFL;
    on_end.sa_flags = SA_NOCLDSTOP;
    ::sigaction(SIGCHLD, &on_end, nullptr);
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &child, nullptr);
    const int ended = ::signalfd(-1, &child, SFD_CLOEXEC);
    if (ended < 0) ::_exit(1);
    const pid_t daemon = ::fork();
    if (daemon < 0) ::_exit(1);
    if (daemon == 0) become_daemon(plan);
    ::send(link, &daemon, sizeof daemon, MSG_NOSIGNAL);
    pollfd watched[] = {{.fd = ended, .events = POLLIN, .revents = 0},
                        {.fd = link, .events = POLLIN, .revents = 0}};
    while (::poll(watched, std::size(watched), -1) < 0 && errno == EINTR) {
    }
    if (watched[0].revents != 0) {
        int status = 0;
        ::waitpid(daemon, &status, 0);
        ::send(link, &status, sizeof status, MSG_NOSIGNAL);
    }
    ::_exit(0);
}

}  // namespace

Result<DaemonProcess> DaemonProcess::launch(const Paths& paths,
                                            const std::vector<std::string>& variables,
                                            const std::vector<std::string>& options) {
    if (auto made = make_private_directories(paths.state_dir); !made) {
        return std::unexpected(std::move(made.error()));
    }
    // Root may use the daemon of another user; one of its own there would leave files behind that
    // the user cannot write to.
    if (auto home = open_private_directory(paths.state_dir); !home) {
        return std::unexpected(std::move(home.error()));
    }
    // Not a pipe, which would keep us waiting for somebody to read, and not what a link names.
    constexpr int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
    const Fd log{::open(paths.log_file.c_str(), flags, 0600)};
    const int refused = errno;
    if (const auto why = why_no_file(paths.log_file); !why.empty()) {
        return fail(
            ErrorCode::internal,
            fmt::format("cannot start a daemon: it cannot log to {}: {}", paths.log_file, why));
    }
    errno = refused;
    if (!log) return cannot_start(paths.log_file);
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        return cannot_start("socketpair");
    }
    Fd ours{ends[0]};
    const Fd theirs{ends[1]};
    ChildPlan plan(daemon_spec(paths, variables, options, log.get()));
    const pid_t launcher = ::fork();
    if (launcher < 0) return cannot_start("fork");
    if (launcher == 0) {
        ours.reset();
        launch_and_watch(plan, theirs.get());
    }
    DaemonProcess started{launcher, std::move(ours)};
    started.learn_pid();
    return started;
}

DaemonProcess::~DaemonProcess() {
    if (!link_) return;  // moved from
    link_.reset();
    while (::waitpid(launcher_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void DaemonProcess::learn_pid() {
    pid_t pid = 0;
    ssize_t size = 0;
    do {
        size = ::recv(link_.get(), &pid, sizeof pid, 0);
    } while (size < 0 && errno == EINTR);
    if (size == static_cast<ssize_t>(sizeof pid)) {
        pid_ = pid;
    } else {
        exit_status_ = W_EXITCODE(1, 0);  // the launcher could not fork, or was killed
    }
}

std::optional<int> DaemonProcess::wait_for_exit(std::chrono::milliseconds step,
                                                const Deadline& deadline) {
    if (exit_status_) return exit_status_;
    pollfd watched{.fd = link_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&watched, 1, deadline.poll_millis(step)) <= 0) return std::nullopt;
    int status = 0;
    const auto size = ::recv(link_.get(), &status, sizeof status, 0);
    // A launcher that leaves without a word was killed.
    exit_status_ = size == static_cast<ssize_t>(sizeof status) ? status : W_EXITCODE(1, 0);
    return exit_status_;
}

}  // namespace knell::client
