#include "client/start_daemon.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/connect.hpp"
#include "client/daemon_process.hpp"
#include "client/directory_watch.hpp"
#include "client/log_tail.hpp"
#include "platform/lock_file.hpp"
#include "platform/procfs.hpp"

namespace knell::client {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds first_step{5};
constexpr milliseconds step_max{100};
constexpr std::size_t log_lines_max = 5;

std::string describe_exit(int status) {
    if (WIFSIGNALED(status)) return fmt::format("was killed by signal {}", WTERMSIG(status));
    return fmt::format("exited with status {}", WEXITSTATUS(status));
}

bool is_full(const std::string& directory) {
    struct statvfs found{};
    if (::statvfs(directory.c_str(), &found) != 0) return false;
    const auto blocks_left = ::geteuid() == 0 ? found.f_bfree : found.f_bavail;
    // Some file systems do not count their inodes and say 0 of 0.
    return blocks_left == 0 || (found.f_files > 0 && found.f_favail == 0);
}

std::unexpected<Error> did_not_start(const Paths& paths, std::size_t log_start,
                                     const std::string& what) {
    const auto tail = log_tail(paths.log_file, log_start, log_lines_max);
    if (tail.empty() && is_full(paths.state_dir)) {
        return fail(ErrorCode::unreachable,
                    fmt::format("the daemon {}: no space left on device for {}, nor for its log. "
                                "Free some space there, then try again",
                                what, paths.state_dir));
    }
    return fail(ErrorCode::unreachable,
                fmt::format("the daemon {}; see {}{}{}", what, paths.log_file,
                            tail.empty() ? "" : "\n", tail));
}

/// A connection that answered: a socket may accept before its daemon has read the store.
Result<Connection> connect_and_ask(const Paths& paths, const Deadline& deadline) {
    auto connection = Connection::open(paths.listen_socket, deadline);
    if (!connection) return connection;
    if (auto checked = check_home(paths); !checked) {
        return std::unexpected(std::move(checked.error()));
    }
    const auto status = connection->call("node.status", {}, deadline);
    if (!status) return std::unexpected(status.error());
    return connection;
}

std::unexpected<Error> holds_the_lock(const Paths& paths, const LockHolder& holder,
                                      std::string_view but) {
    return fail(
        ErrorCode::unreachable,
        fmt::format("the daemon of this home, process {} (it holds {}), {}",
                    holder.pid > 0 ? fmt::to_string(holder.pid) : "?", paths.lock_file, but));
}

/// While a daemon holds the lock: waits until it answers.  It may still be reading its store, or
/// about to bind a socket anew that somebody deleted.  Nothing when no daemon holds the lock.
std::optional<Result<Connection>> connect_to_holder(const Paths& paths, const Deadline& deadline) {
    const auto& socket = paths.listen_socket;
    DirectoryWatch socket_directory(socket.substr(0, socket.rfind('/') + 1));
    while (const auto holder = lock_holder(paths.lock_file)) {
        if (auto connection = connect_and_ask(paths, deadline)) return connection;
        // Started with another XDG_RUNTIME_DIR: it will never listen here.
        if (!holder->socket.empty() && holder->socket != socket) {
            return holds_the_lock(paths, *holder,
                                  fmt::format("listens at {}. To use it: export KNELL_SOCKET={}",
                                              holder->socket, holder->socket));
        }
        if (deadline.passed()) {
            if (auto proven = open_lock_holder(paths.lock_file, *holder); !proven) {
                const auto who = holder->pid > 0
                                     ? fmt::format("process {} that it names", holder->pid)
                                     : "the file";
                return fail(ErrorCode::unreachable,
                            fmt::format("something holds {} and does not answer at {}, and {} {}; "
                                        "`fuser {}` says who does",
                                        paths.lock_file, socket, who, proven.error().message,
                                        paths.lock_file));
            }
            return holds_the_lock(paths, *holder,
                                  fmt::format("does not answer at {}. See {}, or stop it with: "
                                              "knell down",
                                              socket, paths.log_file));
        }
        socket_directory.wait(step_max, deadline);
    }
    return std::nullopt;
}

/// Another daemon was quicker, and ours will find the lock taken.  Were it left on its way, it
/// could find the lock free again: after a `knell down`, say, that was to stop the daemon for good.
void wait_until_given_up(DaemonProcess& daemon, const Deadline& deadline) {
    while (!deadline.passed() && !daemon.wait_for_exit(step_max, deadline)) {
    }
}

/// Starts one and waits for an answer: its own, or that of another that was quicker.
Result<Connection> launch_and_connect(const Paths& paths, NameVariables name_variables,
                                      const Deadline& deadline,
                                      const std::vector<std::string>& options) {
    const auto log_start = log_size(paths.log_file);
    auto daemon = DaemonProcess::launch(paths, name_variables(paths), options);
    if (!daemon) return std::unexpected(std::move(daemon.error()));

    for (auto step = first_step; !deadline.passed(); step = std::min(2 * step, step_max)) {
        const auto exit = daemon->wait_for_exit(step, deadline);
        if (auto connection = connect_and_ask(paths, deadline)) {
            if (connection->peer() != daemon->pid()) wait_until_given_up(*daemon, deadline);
            return connection;
        }
        if (!exit) continue;

        // Ours is gone: because another holds the lock, which will listen in a moment, or because
        // none can run here.
        if (auto connection = connect_to_holder(paths, deadline)) return std::move(*connection);
        return did_not_start(paths, log_start, describe_exit(*exit));
    }
    return did_not_start(paths, log_start, "does not answer yet");
}

}  // namespace

Result<Connection> start_daemon(const Paths& paths, NameVariables name_variables,
                                const Deadline& deadline, const std::vector<std::string>& options) {
    if (auto checked = check_home(paths); !checked) {
        return std::unexpected(std::move(checked.error()));
    }
    if (auto running = connect_to_holder(paths, deadline)) return std::move(*running);
    // The daemon would say so too, in its log; but it is executed by a name in there.
    if (auto mounted = check_procfs(); !mounted) return std::unexpected(mounted.error());
    auto connection = launch_and_connect(paths, name_variables, deadline, options);
    if (connection || deadline.passed()) return connection;
    // A daemon that is being killed loses its socket before its lock.  Ours may have met that lock
    // and given up; by now nobody holds it.
    return launch_and_connect(paths, name_variables, deadline, options);
}

Result<Connection> connect_or_start(const Paths& paths, NameVariables name_variables,
                                    const Deadline& deadline) {
    auto connection = connect(paths, deadline);
    if (connection || connection.error().code != ErrorCode::unreachable) return connection;
    if (!paths.calls_own_daemon()) {
        // A daemon of this home would listen elsewhere, and the next call would not find it.
        return fail(ErrorCode::unreachable,
                    fmt::format("no daemon answers at {}, which KNELL_SOCKET names, and none is "
                                "started: the home {} has its socket at {}. Unset KNELL_SOCKET, or "
                                "start the daemon of its home",
                                paths.socket, paths.state_dir, paths.listen_socket));
    }
    return start_daemon(paths, name_variables, deadline);
}

}  // namespace knell::client
