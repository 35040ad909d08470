#include "client/connect.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "platform/lock_file.hpp"

namespace knell::client {

Result<void> check_home(const Paths& paths) {
    // KNELL_HOME holds the socket too.  Seen from a container its path may well be another.
    if (paths.runtime_dir == paths.state_dir) return {};
    const auto holder = lock_holder(lock_beside(paths.listen_socket));
    // Nobody listens yet, or a full disk kept the daemon from saying who it is.
    if (!holder || holder->home.empty() || holder->home == paths.state_dir) return {};
    std::error_code absent;
    if (std::filesystem::equivalent(holder->home, paths.state_dir, absent)) return {};
    return fail(
        ErrorCode::unreachable,
        fmt::format("the daemon at {} is that of another home, {}; this home is {}. To use "
                    "it all the same: export KNELL_SOCKET={}. To have a daemon for this "
                    "home, set XDG_RUNTIME_DIR to a directory of its own",
                    paths.listen_socket, holder->home, paths.state_dir, paths.listen_socket));
}

Result<Connection> connect(const Paths& paths, const Deadline& deadline) {
    auto connection = Connection::open(paths.socket, deadline);
    // Whoever sets KNELL_SOCKET has chosen a daemon; so has `knell run`, for its command.
    if (!connection || paths.socket_is_named) return connection;
    if (auto checked = check_home(paths); !checked) {
        return std::unexpected(std::move(checked.error()));
    }
    return connection;
}

}  // namespace knell::client
