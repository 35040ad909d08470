#include "net/listener.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace knell::net {

namespace {

std::unexpected<Error> cannot_listen(const std::string& path, int error) {
    return fail(ErrorCode::internal, fmt::format("cannot listen at {}: {}", path,
                                                 std::generic_category().message(error)));
}

/// The socket's directory decides who can reach it: it must be ours, and closed to others.
Result<Fd> open_private_directory(const std::string& path) {
    Fd directory{open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (!directory) return cannot_listen(path, errno);
    struct stat status{};
    if (fstat(directory.get(), &status) != 0) return cannot_listen(path, errno);
    if (status.st_uid != geteuid()) {
        return fail(
            ErrorCode::unauthorized,
            fmt::format("{} belongs to another user (uid {}); set KNELL_HOME to a directory "
                        "of your own",
                        path, status.st_uid));
    }
    if ((status.st_mode & 077U) != 0 &&
        chmod(fmt::format("/proc/self/fd/{}", directory.get()).c_str(), 0700) != 0) {
        return cannot_listen(path, errno);
    }
    return directory;
}

}  // namespace

Result<Fd> listen_unix(const std::string& path) {
    const std::filesystem::path whole(path);
    const auto directory = open_private_directory(whole.parent_path());
    if (!directory) return std::unexpected(directory.error());

    // Through the descriptor: short however long the path, and the directory that was checked.
    const auto name =
        fmt::format("/proc/self/fd/{}/{}", directory->get(), whole.filename().string());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (name.size() >= sizeof address.sun_path) return cannot_listen(path, ENAMETOOLONG);
    std::ranges::copy(name, std::begin(address.sun_path));

    Fd listener{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!listener) return cannot_listen(path, errno);
    unlink(name.c_str());
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    if (bind(listener.get(), generic, sizeof address) != 0) return cannot_listen(path, errno);
    if (chmod(name.c_str(), 0600) != 0) return cannot_listen(path, errno);
    if (::listen(listener.get(), SOMAXCONN) != 0) return cannot_listen(path, errno);
    return listener;
}

}  // namespace knell::net
