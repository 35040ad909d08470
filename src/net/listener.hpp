#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include "core/error.hpp"
#include "platform/fd.hpp"
#include "platform/lock_file.hpp"

namespace knell::net {

/// The address of one daemon: a socket, 0600 in a directory that is ours alone, and a lock beside
/// it that is held for as long as this lives.  Whoever holds the lock may bind; nobody else touches
/// the socket.  A path longer than sockaddr_un holds works too.
///
/// Order: `claim`, `bind`, then `bind` again whenever `is_bound` says no, `remove`.  One thread.
class SocketAddress {
  public:
    /// Makes the directory and takes the lock.  `owned` with who holds it when another daemon does.
    /// `home` is what that one would be told of us.
    static Result<SocketAddress> claim(const std::string& path, const std::string& home);

    /// A service manager listens at this address already, with this socket: it is what the next
    /// `bind` gives, and never deleted.  An error where it listens elsewhere.
    Result<void> take_over(Fd listener);

    /// A listening socket.  What is left of a dead one is replaced; one that somebody answers is
    /// not.  Whatever logout or a cleaner took away is made again: directory, lock and socket.
    Result<Fd> bind();

    /// Whether the path names what was bound last, under our lock.
    bool is_bound() const;

    /// Deletes the socket, if it is the one that was bound last.
    void remove();

    const std::string& path() const { return path_; }

  private:
    struct FileId {
        dev_t device;
        ino_t inode;
        bool operator==(const FileId&) const = default;
    };

    SocketAddress(std::string path, std::string home, LockFile lock)
        : path_(std::move(path)), home_(std::move(home)), lock_(std::move(lock)) {}
    static Result<LockFile> take_lock(const std::string& path, const std::string& home,
                                      std::chrono::milliseconds dead_holder_wait);
    static std::optional<FileId> look(const std::string& path);

    std::string path_;
    std::string home_;
    LockFile lock_;
    std::optional<FileId> bound_;
    Fd handed_over_;            // until it is bound
    bool is_managers_ = false;  // what was bound last belongs to the service manager
};

}  // namespace knell::net
