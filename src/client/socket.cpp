#include "client/socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "platform/environment.hpp"
#include "platform/paths.hpp"

namespace knell::client {

namespace {

std::unexpected<Error> cannot_connect(const std::string& path, int error) {
    if (error == ENOENT || error == ECONNREFUSED || error == ENOTDIR) {
        const auto paths = Paths::from_environment();
        const bool is_elsewhere = path == paths.socket && !paths.calls_own_daemon();
        return fail(ErrorCode::unreachable,
                    fmt::format("no daemon answers at {}{}", path,
                                is_elsewhere ? ", which KNELL_SOCKET names. Unset it, or start the "
                                               "daemon of that home"
                                             : ". Start one with: knell up --detach"));
    }
    if (error == EAGAIN || error == EINPROGRESS) {
        return fail(
            ErrorCode::limit,
            fmt::format("the daemon at {} takes no more connections for now. Try again", path));
    }
    return fail(
        error == EACCES ? ErrorCode::unauthorized : ErrorCode::internal,
        fmt::format("cannot connect to {}: {}", path, std::generic_category().message(error)));
}

/// What sockaddr_un holds: the path, or where that is too long the same file seen through an open
/// descriptor of its directory, which must outlive the connect.
struct Address {
    sockaddr_un name{};
    Fd directory;
};

Result<Address> address_of(const std::string& path) {
    Address address;
    address.name.sun_family = AF_UNIX;
    std::string text = path;
    if (text.size() >= sizeof address.name.sun_path) {
        const auto slash = path.rfind('/');
        const auto parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
        address.directory = Fd{::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
        if (!address.directory) return cannot_connect(path, errno);
        text = fmt::format("/proc/self/fd/{}/{}", address.directory.get(),
                           slash == std::string::npos ? path : path.substr(slash + 1));
        if (text.size() >= sizeof address.name.sun_path) return cannot_connect(path, ENAMETOOLONG);
    }
    std::ranges::copy(text, std::begin(address.name.sun_path));
    return address;
}

/// Root may use anybody's daemon, once it was told whose.
bool may_use_any_daemon() {
    return ::geteuid() == 0 && (!environment_variable("KNELL_HOME").empty() ||
                                !environment_variable("KNELL_SOCKET").empty());
}

/// The fallback directory is under /tmp, where anybody may have put a socket before us; sessions
/// must not be told to a stranger.
Result<void> check_peer(int fd, const std::string& path) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
        return cannot_connect(path, errno);
    }
    if (peer.uid == ::geteuid() || peer.uid == 0 || may_use_any_daemon()) return {};
    return fail(ErrorCode::unauthorized,
                fmt::format("{} belongs to another user (uid {}); set KNELL_HOME to a directory "
                            "of your own",
                            path, peer.uid));
}

}  // namespace

Result<Fd> connect_socket(const std::string& path, const Deadline& deadline) {
    auto address = address_of(path);
    if (!address) return std::unexpected(std::move(address.error()));
    Fd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (!fd) return cannot_connect(path, errno);

    // A unix connect waits while the listener's backlog is full; poll cannot watch for that, but
    // the send timeout bounds it.  0 would mean for ever.
    const auto left = std::max(deadline.left(), std::chrono::milliseconds{1});
    const timeval limit{.tv_sec = left.count() / 1000, .tv_usec = left.count() % 1000 * 1000};
    ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    // sockaddr_un is not related to sockaddr by type: the cast is how the interface is used.
    const auto* name = reinterpret_cast<const sockaddr*>(&address->name);
    while (::connect(fd.get(), name, sizeof address->name) != 0) {
        if (errno == EINTR && !deadline.passed()) continue;
        return cannot_connect(path, errno);
    }
    if (auto checked = check_peer(fd.get(), path); !checked) {
        return std::unexpected(std::move(checked.error()));
    }
    return fd;
}

}  // namespace knell::client
