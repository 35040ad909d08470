#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <sys/types.h>

#include "core/error.hpp"
#include "net/listener.hpp"
#include "platform/lock_file.hpp"
#include "platform/paths.hpp"

namespace knell {

/// What keeps other daemons away from the store and from the address of this one, for as long as it
/// lives: a lock in the state directory and one beside the socket.  One thread.
class Claims {
  public:
    /// `owned` with who holds what when another daemon does.  The directories exist and are ours.
    static Result<Claims> take(const Paths& paths);

    /// Takes the lock of the store anew when its file was deleted.  `owned`: another daemon was
    /// quicker, or has been here meanwhile and left a store that is not ours; two of them must not
    /// write to one store.
    Result<void> keep_store();
    /// When the store has just been opened: which file is ours.
    void remember_store() { store_file_ = look(paths_.store_file); }

    net::SocketAddress& address() { return address_; }

  private:
    Claims(Paths paths, LockFile store, net::SocketAddress address)
        : paths_(std::move(paths)), store_(std::move(store)), address_(std::move(address)) {}
    static Result<LockFile> lock_store(const Paths& paths,
                                       std::chrono::milliseconds dead_holder_wait);

    using FileId = std::pair<dev_t, ino_t>;
    static std::optional<FileId> look(const std::string& path);

    Paths paths_;
    LockFile store_;
    std::optional<FileId> store_file_;  // as it was when it was opened
    net::SocketAddress address_;
};

}  // namespace knell
