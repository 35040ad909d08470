#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include "core/error.hpp"
#include "platform/fd.hpp"

namespace knell {

/// What a lock file says of the process that wrote it.  Any of it may be missing: a full disk is no
/// obstacle to a lock.
struct LockHolder {
    pid_t pid = 0;
    std::uint64_t start_ticks = 0;
    std::string boot_id;
    std::string pid_namespace;
    std::string home;    // of the daemon
    std::string socket;  // where it listens
};

/// Keeps a second process out for as long as it lives, however it dies: the kernel drops the lock
/// with the process.
class LockFile {
  public:
    /// What is written into the file besides who we are.
    struct Note {
        std::string home;
        std::string socket;
    };
    /// Nothing when another process holds the lock; `lock_holder` tells which.  A daemon that was
    /// killed is gone before its lock is: a hook that it was just starting holds the same open file
    /// until it has become its program.  That is waited for, `dead_holder_wait` at most.
    static Result<std::optional<LockFile>> acquire(
        const std::string& path, const Note& note,
        std::chrono::milliseconds dead_holder_wait = std::chrono::seconds{3});

    /// Whether the path still names the file that is locked.  Once it does not, another process may
    /// hold a lock of the same name.
    bool is_in_place() const;

  private:
    LockFile(std::string path, Fd file) : path_(std::move(path)), file_(std::move(file)) {}

    std::string path_;
    Fd file_;
};

/// A lock on a folder itself, which stays when somebody deletes everything in it, lock files too.
class FolderLock {
  public:
    /// Nothing when another process holds it; `lock_file` says who that is, when it is there, and
    /// the wait is as in LockFile::acquire.  Where it cannot be taken for another reason (no
    /// descriptor, a file system without such locks) there is one that keeps nobody out.
    static std::optional<FolderLock> acquire(const std::string& folder,
                                             const std::string& lock_file,
                                             std::chrono::milliseconds dead_holder_wait);

    /// Whether somebody has it.
    static bool is_held(const std::string& folder);

    /// Whether it was taken, and the path still names that folder.
    bool is_in_place() const;

  private:
    FolderLock(std::string path, Fd folder) : path_(std::move(path)), folder_(std::move(folder)) {}

    std::string path_;
    Fd folder_;
};

/// Who holds the lock; nothing when nobody does.
std::optional<LockHolder> lock_holder(const std::string& path);

/// A pidfd of the process that holds the lock at `path`.  Proven: the lock is held, and the process
/// is the one that wrote `holder` (pid, start ticks, boot id, pid namespace).  The error completes
/// a sentence that begins with the process.
Result<Fd> open_lock_holder(const std::string& path, const LockHolder& holder);

}  // namespace knell
