#include "daemon/claims.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "platform/directories.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

std::unexpected<Error> somebody_is_here(const Paths& paths) {
    const auto holder = lock_holder(paths.lock_file);
    if (!holder) {
        return fail(ErrorCode::owned,
                    fmt::format("another daemon runs in {}, though {} is not there; it puts that "
                                "back within a second, unless it is stopped; `fuser -v {}` says "
                                "who it is",
                                paths.state_dir, paths.lock_file, paths.state_dir));
    }
    const auto pid = holder->pid > 0 ? fmt::to_string(holder->pid) : "?";
    if (const auto proven = open_lock_holder(paths.lock_file, *holder); !proven) {
        return fail(ErrorCode::owned,
                    fmt::format("something holds {}, and process {} that it names {}; `fuser {}` "
                                "says who does",
                                paths.lock_file, pid, proven.error().message, paths.lock_file));
    }
    const auto elsewhere = holder->socket.empty() || holder->socket == paths.listen_socket
                               ? ""
                               : fmt::format(" and listens at {}", holder->socket);
    return fail(ErrorCode::owned,
                fmt::format("process {} already runs knell here (it holds {}){}; use it, or stop "
                            "it with `knell down`",
                            pid, paths.lock_file, elsewhere));
}

}  // namespace

Result<FolderLock> Claims::lock_folder(const Paths& paths,
                                       std::chrono::milliseconds dead_holder_wait) {
    auto lock = FolderLock::acquire(paths.state_dir, paths.lock_file, dead_holder_wait);
    if (!lock) return somebody_is_here(paths);
    return std::move(*lock);
}

Result<LockFile> Claims::lock_store(const Paths& paths,
                                    std::chrono::milliseconds dead_holder_wait) {
    const LockFile::Note note{.home = paths.state_dir, .socket = paths.listen_socket};
    auto lock = LockFile::acquire(paths.lock_file, note, dead_holder_wait);
    if (!lock) return std::unexpected(lock.error());
    if (!*lock) return somebody_is_here(paths);
    return std::move(**lock);
}

Result<Claims> Claims::take(const Paths& paths, std::chrono::milliseconds dead_holder_wait) {
    auto folder = lock_folder(paths, dead_holder_wait);
    if (!folder) return std::unexpected(folder.error());
    auto store = lock_store(paths, dead_holder_wait);
    if (!store) return std::unexpected(store.error());
    auto address = net::SocketAddress::claim(paths.listen_socket, paths.state_dir);
    if (!address) return std::unexpected(address.error());
    return Claims(paths, std::move(*folder), std::move(*store), std::move(*address));
}

Result<void> Claims::keep_store() {
    if (store_.is_in_place()) return {};
    if (const auto now = look(paths_.store_file); now && store_file_ && now != store_file_) {
        return fail(ErrorCode::owned, fmt::format("{} was deleted, and {} is the store of another "
                                                  "daemon now",
                                                  paths_.lock_file, paths_.store_file));
    }
    if (!make_private_directories(paths_.state_dir)) return {};
    if (!folder_.is_in_place()) {
        auto again = lock_folder(paths_, 0ms);
        if (!again) return std::unexpected(again.error());
        folder_ = std::move(*again);
    }
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
