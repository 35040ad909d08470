#include "daemon/claims.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "platform/directories.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

constexpr auto dead_holder_wait_max = 3s;  // see LockFile::acquire

}  // namespace

Result<LockFile> Claims::lock_store(const Paths& paths,
                                    std::chrono::milliseconds dead_holder_wait) {
    const LockFile::Note note{.home = paths.state_dir, .socket = paths.listen_socket};
    auto lock = LockFile::acquire(paths.lock_file, note, dead_holder_wait);
    if (!lock) return std::unexpected(lock.error());
    if (*lock) return std::move(**lock);
    const auto holder = lock_holder(paths.lock_file).value_or(LockHolder{});
    const auto elsewhere = holder.socket.empty() || holder.socket == paths.listen_socket
                               ? ""
                               : fmt::format(" and listens at {}", holder.socket);
    return fail(
        ErrorCode::owned,
        fmt::format("process {} already runs knell here (it holds {}){}; use it, or stop "
                    "it with `knell down`",
                    holder.pid > 0 ? fmt::to_string(holder.pid) : "?", paths.lock_file, elsewhere));
}

Result<Claims> Claims::take(const Paths& paths) {
    auto store = lock_store(paths, dead_holder_wait_max);
    if (!store) return std::unexpected(store.error());
    auto address = net::SocketAddress::claim(paths.listen_socket, paths.state_dir);
    if (!address) return std::unexpected(address.error());
    return Claims(paths, std::move(*store), std::move(*address));
}

Result<void> Claims::keep_store() {
    if (store_.is_in_place()) return {};
    if (const auto now = look(paths_.store_file); now && store_file_ && now != store_file_) {
        return fail(ErrorCode::owned, fmt::format("{} was deleted, and {} is the store of another "
                                                  "daemon now",
                                                  paths_.lock_file, paths_.store_file));
    }
    if (!make_private_directories(paths_.state_dir)) return {};
    auto again = lock_store(paths_, 0ms);
    // A full or read-only disk is no reason to stop; another daemon is.
    if (!again && again.error().code == ErrorCode::owned) return std::unexpected(again.error());
    if (again) store_ = std::move(*again);
    return {};
}

std::optional<Claims::FileId> Claims::look(const std::string& path) {
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0) return std::nullopt;
    return FileId{found.st_dev, found.st_ino};
}

}  // namespace knell
