#include "client/stop_daemon.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "client/connection.hpp"
#include "platform/fd.hpp"
#include "platform/lock_file.hpp"
#include "platform/proc_stat.hpp"

namespace knell::client {

namespace {

/// How long a daemon that is starting or going may not be proven to be the one that its lock names.
constexpr std::chrono::milliseconds settle_max{500};

/// A daemon looks once a second whether its lock file and its socket are in their places.
constexpr std::chrono::milliseconds lock_back_max{2'000};

std::unexpected<Error> still_there(pid_t pid, std::string_view what) {
    const auto stat = read_proc_stat(pid);
    if (stat && stat->is_stopped()) {
        return fail(
            ErrorCode::unreachable,
            fmt::format("the daemon, pid {}, {}: it is stopped (SIGSTOP, ^Z or a debugger). "
                        "Let it go on, and it ends: kill -CONT {}",
                        pid, what, pid));
    }
    return fail(ErrorCode::unreachable,
                fmt::format("the daemon, pid {}, {}. See its log, and end it with: kill {}", pid,
                            what, pid));
}

Result<void> wait_until_gone(const Fd& pidfd, pid_t pid, const Deadline& deadline) {
    pollfd watched{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
    for (;;) {
        const int count = ::poll(&watched, 1, deadline.poll_millis());
        if (count > 0) return {};
        if (count == 0) return still_there(pid, "was asked to stop but still runs");
        if (errno != EINTR) return still_there(pid, std::generic_category().message(errno));
    }
}

/// For a daemon that cannot be watched: in a pid namespace that is not below ours, or on a system
/// that grants no pidfd.  The kernel releases its lock when it ends.
Result<void> wait_until_unlocked(const Paths& paths, const Deadline& deadline) {
    while (lock_holder(paths.lock_file)) {
        const int millis = deadline.poll_millis(std::chrono::milliseconds{20});
        if (millis == 0) {
            return fail(ErrorCode::unreachable,
                        fmt::format("the daemon was asked to stop but still holds {}. See its log, "
                                    "and stop it where it runs",
                                    paths.lock_file));
        }
        ::poll(nullptr, 0, millis);
    }
    return {};
}

/// Two homes may share a runtime directory: the daemon there is another home's, and not ours to
/// stop.
bool is_of_home(const Json& status, const Paths& paths) {
    const auto home = status.is_object() ? wire::text_at(status.get_object(), "home") : "";
    std::error_code absent;
    return home.empty() || home == paths.state_dir ||
           std::filesystem::equivalent(home, paths.state_dir, absent);
}

struct Stopping {
    pid_t pid = 0;  // 0: it has none here
    Fd pidfd;       // empty where it cannot be watched
};

/// The process behind a connection: the proven holder of the lock; else who listens, as the kernel
/// tells, which is a supervisor where one did so before there was a daemon.
Stopping process_behind(const Connection& connection, const Paths& paths) {
    if (const auto holder = lock_holder(paths.lock_file); holder && holder->pid > 0) {
        if (auto proven = open_lock_holder(paths.lock_file, *holder)) {
            return {holder->pid, std::move(*proven)};
        }
    }
    const auto pid = connection.peer();
    return {pid, Fd{pid > 0 ? static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)) : -1}};
}

/// Through its socket.  Nothing when nobody of this home answers there.
Result<std::optional<pid_t>> stop_by_socket(const Paths& paths, const Deadline& deadline) {
    auto connection = Connection::open(paths.listen_socket, deadline);
    if (!connection && connection.error().code == ErrorCode::unreachable) {
        return std::optional<pid_t>{};
    }
    if (!connection) return std::unexpected(std::move(connection.error()));
    const auto status = connection->call("node.status", {}, deadline);
    // One that cannot read its own store is found by its lock, too.
    if (!status) return std::optional<pid_t>{};
    if (!is_of_home(*status, paths)) return std::optional<pid_t>{};
    // What it calls itself may be somebody else's pid here.  Opened before the daemon is asked:
    // afterwards the pid may be another's.
    const auto [pid, pidfd] = process_behind(*connection, paths);
    const auto stopped = connection->call("node.stop", {}, deadline);
    // It may be gone before its answer is through.
    if (!stopped && stopped.error().code != ErrorCode::unreachable) {
        return std::unexpected(stopped.error());
    }
    const auto gone =
        pidfd ? wait_until_gone(pidfd, pid, deadline) : wait_until_unlocked(paths, deadline);
    if (!gone) return std::unexpected(gone.error());
    return std::optional{pid};
}

/// By the lock of the home, when its socket does not answer: deleted, or not bound yet.  Only the
/// process that is proven to hold the lock is signalled.
Result<std::optional<pid_t>> stop_by_lock(const Paths& paths, const Deadline& deadline) {
    auto holder = lock_holder(paths.lock_file);
    if (!holder) return std::optional<pid_t>{};
    auto pidfd = open_lock_holder(paths.lock_file, *holder);
    // It may be about to write who it is, or have just gone.
    const Deadline settled{std::min(deadline.left(), settle_max)};
    while (!pidfd && settled.left().count() > 0) {
        ::poll(nullptr, 0, settled.poll_millis(std::chrono::milliseconds{20}));
        holder = lock_holder(paths.lock_file);
        if (!holder) return std::optional<pid_t>{};
        pidfd = open_lock_holder(paths.lock_file, *holder);
    }
    if (!pidfd) {
        return fail(ErrorCode::unreachable,
                    fmt::format("a daemon holds {} and does not answer at {}, but process {} {}; "
                                "nothing was stopped. Stop it where it runs",
                                paths.lock_file, paths.listen_socket,
                                holder->pid > 0 ? fmt::to_string(holder->pid) : "?",
                                pidfd.error().message));
    }
    if (::syscall(SYS_pidfd_send_signal, pidfd->get(), SIGTERM, nullptr, 0U) != 0) {
        return still_there(holder->pid, fmt::format("cannot be signalled: {}",
                                                    std::generic_category().message(errno)));
    }
    if (auto gone = wait_until_gone(*pidfd, holder->pid, deadline); !gone) {
        return std::unexpected(std::move(gone.error()));
    }
    return std::optional{holder->pid};
}

}  // namespace

Result<std::optional<pid_t>> stop_daemon(const Paths& paths, const Deadline& deadline) {
    const Deadline settled{std::min(deadline.left(), lock_back_max)};
    for (;;) {
        auto stopped = stop_by_socket(paths, deadline);
        if (!stopped || *stopped) return stopped;
        stopped = stop_by_lock(paths, deadline);
        if (!stopped || *stopped || !FolderLock::is_held(paths.state_dir)) return stopped;
        // Its lock file and its socket were deleted: it puts them back, unless it stands still.
        if (settled.passed()) break;
        ::poll(nullptr, 0, settled.poll_millis(std::chrono::milliseconds{50}));
    }
    return fail(ErrorCode::unreachable,
                fmt::format("a daemon runs in {}, though {} is not there, and nothing was stopped; "
                            "`fuser -v {}` says who it is",
                            paths.state_dir, paths.lock_file, paths.state_dir));
}

}  // namespace knell::client
