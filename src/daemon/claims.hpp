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
/// lives: locks on the state directory and in it, and one beside the socket.  One thread.
class Claims {
  public:
    /// `owned` with who holds what when another daemon does.  The directories exist and are ours.
    /// The wait: see LockFile::acquire.
    static Result<Claims> take(const Paths& paths,
                               std::chrono::milliseconds dead_holder_wait = std::chrono::seconds{
                                   3});

    /// Takes the lock of the store anew when its file was deleted.  `owned`: another daemon was
    /// quicker, or has been here meanwhile and left a store that is not ours; two of them must not
    /// write to one store.
    Result<void> keep_store();
    /// When the store has just been opened: which file is ours.
    void remember_store() { store_file_ = look(paths_.store_file); }

    net::SocketAddress& address() { return address_; }

  private:
    Claims(Paths paths, FolderLock folder, LockFile store, net::SocketAddress address)
        : paths_(std::move(paths)),
          folder_(std::move(folder)),
          store_(std::move(store)),
          address_(std::move(address)) {}
    static Result<FolderLock> lock_folder(const Paths& paths,
                                          std::chrono::milliseconds dead_holder_wait);
    static Result<LockFile> lock_store(const Paths& paths,
                                       std::chrono::milliseconds dead_holder_wait);

    using FileId = std::pair<dev_t, ino_t>;
    static std::optional<FileId> look(const std::string& path);

    Paths paths_;
    // The file says who we are and keeps others out; the folder keeps them out, too, while the file
    // is not there because somebody deleted it.  Taken in this order.
    FolderLock folder_;
    LockFile store_;
    std::optional<FileId> store_file_;  // as it was when it was opened
    net::SocketAddress address_;
};

}  // namespace knell
