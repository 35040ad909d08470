#include "client/start_daemon.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "client/daemon_process.hpp"
#include "client/directory_watch.hpp"
#include "client/log_tail.hpp"

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

std::unexpected<Error> did_not_start(const Paths& paths, std::size_t log_start,
                                     const std::string& what) {
    const auto tail = log_tail(paths.log_file, log_start, log_lines_max);
    return fail(ErrorCode::unreachable,
                fmt::format("the daemon {}; see {}{}{}", what, paths.log_file,
                            tail.empty() ? "" : "\n", tail));
}

/// A connection that answered: a socket may accept before its daemon has read the store.
Result<Connection> connect_and_ask(const Paths& paths, const Deadline& deadline) {
    auto connection = Connection::open(paths.socket, deadline);
    if (!connection) return connection;
    const auto status = connection->call("node.status", {}, deadline);
    if (!status) return std::unexpected(status.error());
    return connection;
}

/// Whether a daemon has the store.  The lock is let go at once where it was free.
bool is_locked(const std::string& lock_file) {
    const Fd fd{::open(lock_file.c_str(), O_RDONLY | O_CLOEXEC)};
    return fd && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/// Starts one and waits for an answer: its own, or that of another that was quicker.
Result<Connection> launch_and_connect(const Paths& paths, const Deadline& deadline) {
    const auto log_start = log_size(paths.log_file);
    auto daemon = DaemonProcess::launch(paths);
    if (!daemon) return std::unexpected(std::move(daemon.error()));

    for (auto step = first_step; !deadline.passed(); step = std::min(2 * step, step_max)) {
        const auto exit = daemon->wait_for_exit(step, deadline);
        if (auto connection = connect_and_ask(paths, deadline)) return connection;
        if (!exit) continue;

        // Ours is gone: because another holds the lock, which will listen in a moment, or because
        // none can run here.
        DirectoryWatch socket_directory(paths.socket.substr(0, paths.socket.rfind('/') + 1));
        while (is_locked(paths.lock_file) && !deadline.passed()) {
            if (auto connection = connect_and_ask(paths, deadline)) return connection;
            socket_directory.wait(step_max, deadline);
        }
        return did_not_start(paths, log_start, describe_exit(*exit));
    }
    return did_not_start(paths, log_start, "does not answer yet");
}

}  // namespace

Result<Connection> start_daemon(const Paths& paths, const Deadline& deadline) {
    auto connection = launch_and_connect(paths, deadline);
    if (connection || deadline.passed()) return connection;
    // A daemon that is being killed loses its socket before its lock.  Ours may have met that lock
    // and given up; by now nobody holds it.
    return launch_and_connect(paths, deadline);
}

Result<Connection> connect_or_start(const Paths& paths, const Deadline& deadline) {
    auto connection = Connection::open(paths.socket, deadline);
    if (connection || connection.error().code != ErrorCode::unreachable) return connection;
    return start_daemon(paths, deadline);
}

}  // namespace knell::client
