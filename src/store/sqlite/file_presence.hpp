#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "core/error.hpp"

namespace knell::sqlite {

/// Notices that a store's files were deleted, replaced or cut short while they are open: what is
/// written to them then is lost with the process, however durable SQLite calls it.
///
/// The database never shrinks: it is not vacuumed, and nobody else may write to it.  Its log may,
/// when somebody else makes a checkpoint; but then it begins anew, with its header.
///
/// Safe on any thread after construction.
class FilePresence {
  public:
    /// Remembers the files as they are now, open and in place.  One that is not there (a VFS that
    /// keeps no files) is not looked for.
    explicit FilePresence(const std::string& path);

    /// `storage`, with what happened and what to do, when one of them is gone.  Two calls of
    /// stat(2) and a look at the first bytes of the log.
    Result<void> check() const;

  private:
    struct File {
        std::string path;
        dev_t device;
        ino_t inode;
        off_t bytes;
    };
    static std::optional<File> look(const std::string& path);
    /// "" when it is as it was left.
    std::string_view what_happened_to(const File& file) const;
    const std::optional<File> database_;
    const std::optional<File> log_;
    mutable std::atomic<off_t> database_bytes_;  // seen at least
};

}  // namespace knell::sqlite
