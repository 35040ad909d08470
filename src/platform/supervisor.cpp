#include "platform/supervisor.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text.hpp"
#include "platform/environment.hpp"

namespace knell {

namespace {

/// The first descriptor that is handed over, by agreement.
constexpr int first_listener = 3;
constexpr int listeners_max = 64;

std::string take_variable(const char* name) {
    auto value = environment_variable(name);
    ::unsetenv(name);
    return value;
}

/// Meant for this very process, and not for one that we were started by.
bool is_ours(const std::string& pid) {
    return number_in<pid_t>(pid) == ::getpid();
}

bool is_listening_stream(int socket) {
    int type = 0;
    int listens = 0;
    socklen_t size = sizeof type;
    if (::getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) != 0) return false;
    size = sizeof listens;
    if (::getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0) return false;
    return type == SOCK_STREAM && listens != 0;
}

}  // namespace

Supervisor Supervisor::from_environment() {
    Supervisor supervisor;
    supervisor.notify_socket_ = take_variable("NOTIFY_SOCKET");
    const auto watchdog_pid = take_variable("WATCHDOG_PID");
    const auto watchdog = number_in<std::int64_t>(take_variable("WATCHDOG_USEC"));
    if (watchdog > 0 && (watchdog_pid.empty() || is_ours(watchdog_pid))) {
        supervisor.watchdog_ =
            std::chrono::microseconds{std::max<std::int64_t>(watchdog / 2, 1000)};
    }
    const auto listen_pid = take_variable("LISTEN_PID");
    const auto listeners = number_in<int>(take_variable("LISTEN_FDS"));
    take_variable("LISTEN_FDNAMES");
    if (!is_ours(listen_pid)) return supervisor;
    supervisor.listeners_ = std::clamp(listeners, 0, listeners_max);
    for (int fd = first_listener; fd < first_listener + supervisor.listeners_; ++fd) {
        ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    return supervisor;
}

Result<std::optional<Fd>> Supervisor::take_listener() {
    const int listeners = std::exchange(listeners_, 0);
    if (listeners == 0) return std::nullopt;
    if (listeners > 1) {
        return fail(ErrorCode::internal,
                    fmt::format("the service manager handed {} sockets over, and one is expected; "
                                "name one ListenStream in knell.socket",
                                listeners));
    }
    if (!is_listening_stream(first_listener)) {
        return fail(ErrorCode::internal,
                    "what the service manager handed over is no stream socket that listens; see "
                    "ListenStream in knell.socket");
    }
    return std::optional<Fd>{Fd{first_listener}};
}

void Supervisor::tell(std::string_view state) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto& path = notify_socket_;
    if (path.empty() || path.size() >= sizeof address.sun_path) return;
    std::ranges::copy(path, std::begin(address.sun_path));
    // A name that is in no file system.
    if (path.front() == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    const Fd socket{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!socket) return;
    // Not waited for: a manager that is stuck must not make us so.
    (void)::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL,
                   reinterpret_cast<const sockaddr*>(&address), size);
}

std::string path_of_listener(int socket) {
    sockaddr_un address{};
    socklen_t size = sizeof address;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
    const auto begin = offsetof(sockaddr_un, sun_path);
    if (address.sun_family != AF_UNIX || size <= begin || address.sun_path[0] == '\0') return {};
    return {address.sun_path, ::strnlen(address.sun_path, size - begin)};
}

}  // namespace knell
