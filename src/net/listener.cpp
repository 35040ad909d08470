#include "net/listener.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "platform/directories.hpp"
#include "platform/paths.hpp"
#include "platform/supervisor.hpp"

namespace knell::net {

namespace {

/// See LockFile::acquire.
constexpr std::chrono::seconds dead_holder_wait_max{3};

std::unexpected<Error> cannot_listen(const std::string& path, int error) {
    return fail(ErrorCode::internal, fmt::format("cannot listen at {}: {}", path,
                                                 std::generic_category().message(error)));
}

std::string folder_of(const std::string& path) {
    return std::filesystem::path(path).parent_path();
}

/// An address as the kernel takes it, seen through a descriptor of its directory: short however
/// long the path, and the directory that was checked.
struct Address {
    Fd directory;
    std::string name;
    sockaddr_un socket{};

    const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&socket); }
};

Result<Address> open_address(const std::string& path) {
    auto directory = open_private_directory(folder_of(path));
    if (!directory) return std::unexpected(directory.error());
    Address address{std::move(*directory), {}, {}};
    address.name = fmt::format("/proc/self/fd/{}/{}", address.directory.get(),
                               std::filesystem::path(path).filename().string());
    address.socket.sun_family = AF_UNIX;
    if (address.name.size() >= sizeof address.socket.sun_path) {
        return cannot_listen(path, ENAMETOOLONG);
    }
    std::ranges::copy(address.name, std::begin(address.socket.sun_path));
    return address;
}

/// Whether somebody may listen there.  Whoever does sees a connection that is closed at once.
Result<bool> is_answered(const Address& address, const std::string& path) {
    const Fd probe{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    // Who cannot ask does not know: what is there must not be taken for dead.
    if (!probe) return cannot_listen(path, errno);
    if (connect(probe.get(), address.generic(), sizeof address.socket) == 0) return true;
    // Nothing else proves that nobody is there: EAGAIN is a listener whose backlog is full,
    // EPROTOTYPE somebody's socket of another kind.
    return errno != ECONNREFUSED && errno != ENOENT;
}

}  // namespace

Result<LockFile> SocketAddress::take_lock(const std::string& path, const std::string& home,
                                          std::chrono::milliseconds dead_holder_wait) {
    const auto lock_path = lock_beside(path);
    auto lock = LockFile::acquire(lock_path, {.home = home, .socket = path}, dead_holder_wait);
    if (!lock) return std::unexpected(lock.error());
    if (*lock) return std::move(**lock);
    const auto holder = lock_holder(lock_path).value_or(LockHolder{});
    const auto who = holder.pid > 0 ? fmt::format("process {}", holder.pid) : "another process";
    return fail(
        ErrorCode::owned,
        fmt::format("{} already listens at {}{}: two homes cannot share a socket. Give each a "
                    "KNELL_HOME or XDG_RUNTIME_DIR of its own, or stop the other with `knell down`",
                    who, path,
                    holder.home.empty() ? "" : fmt::format(" for the home {}", holder.home)));
}

Result<SocketAddress> SocketAddress::claim(const std::string& path, const std::string& home) {
    if (auto made = make_private_directories(folder_of(path)); !made) {
        return std::unexpected(made.error());
    }
    if (auto ours = open_private_directory(folder_of(path)); !ours) {
        return std::unexpected(ours.error());
    }
    auto lock = take_lock(path, home, dead_holder_wait_max);
    if (!lock) return std::unexpected(lock.error());
    return SocketAddress(path, home, std::move(*lock));
}

Result<void> SocketAddress::take_over(Fd listener) {
    const auto where = path_of_listener(listener.get());
    if (where != path_) {
        return fail(ErrorCode::owned,
                    fmt::format("the service manager listens at {}, and this home's socket is {}; "
                                "set ListenStream in knell.socket to that",
                                where.empty() ? "no path" : where, path_));
    }
    ::fcntl(listener.get(), F_SETFL, ::fcntl(listener.get(), F_GETFL) | O_NONBLOCK);
    // Whoever connects is told by the kernel who called this last: that is to be us.
    if (::listen(listener.get(), SOMAXCONN) != 0) return cannot_listen(path_, errno);
    handed_over_ = std::move(listener);
    return {};
}

Result<Fd> SocketAddress::bind() {
    if (auto made = make_private_directories(folder_of(path_)); !made) {
        return std::unexpected(made.error());
    }
    const auto address = open_address(path_);
    if (!address) return std::unexpected(address.error());
    if (!lock_.is_in_place()) {
        // It went with its directory, or was deleted: ours keeps nobody out any more.
        // Clients are being served: nothing is waited for.
        auto lock = take_lock(path_, home_, std::chrono::milliseconds{0});
        if (!lock) return std::unexpected(lock.error());
        lock_ = std::move(*lock);
    }
    if (handed_over_) {
        bound_ = look(address->name);
        is_managers_ = true;
        return std::exchange(handed_over_, Fd{});
    }
    // Only a socket that nobody answers at is taken out of the way: nothing else was ever ours.
    struct stat found{};
    if (lstat(address->name.c_str(), &found) == 0 && !S_ISSOCK(found.st_mode)) {
        return fail(ErrorCode::owned,
                    fmt::format("{} is not a socket but {}; move it away, or give knell another "
                                "place with KNELL_HOME",
                                path_, S_ISDIR(found.st_mode) ? "a directory" : "a file"));
    }
    if (!bound_ || look(address->name) != bound_) {
        const auto answered = is_answered(*address, path_);
        if (!answered) return std::unexpected(answered.error());
        if (*answered) {
            return fail(ErrorCode::owned, fmt::format("something else listens at {} without its "
                                                      "lock; stop it, or remove its socket",
                                                      path_));
        }
    }
    Fd listener{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!listener) return cannot_listen(path_, errno);
    unlink(address->name.c_str());
    if (::bind(listener.get(), address->generic(), sizeof address->socket) != 0) {
        return cannot_listen(path_, errno);
    }
    if (chmod(address->name.c_str(), 0600) != 0) return cannot_listen(path_, errno);
    if (::listen(listener.get(), SOMAXCONN) != 0) return cannot_listen(path_, errno);
    bound_ = look(address->name);
    is_managers_ = false;
    return listener;
}

bool SocketAddress::is_bound() const {
    // The kernel keeps the inode of a bound socket while it is open: its number is not reused.
    return bound_ && look(path_) == bound_ && lock_.is_in_place();
}

void SocketAddress::remove() {
    // Without the lock the address may be another daemon's by now.
    const bool is_ours = bound_ && !is_managers_ && lock_.is_in_place();
    if (is_ours && look(path_) == bound_) unlink(path_.c_str());
    bound_.reset();
}

std::optional<SocketAddress::FileId> SocketAddress::look(const std::string& path) {
    struct stat found{};
    if (lstat(path.c_str(), &found) != 0) return std::nullopt;
    return FileId{found.st_dev, found.st_ino};
}

}  // namespace knell::net
