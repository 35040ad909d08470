#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include "core/error.hpp"

namespace knell::sqlite {

/// Notices that a store's files were deleted or replaced while they are open: what is written to
/// them then is lost with the process, however durable SQLite calls it.
///
/// Safe on any thread after construction.
class FilePresence {
  public:
    /// Remembers the files as they are now, open and in place.  One that is not there (a VFS that
    /// keeps no files) is not looked for.
    explicit FilePresence(const std::string& path);

    /// `storage`, with what happened and what to do, when one of them is gone.  Two calls of
    /// stat(2).
    Result<void> check() const;

  private:
    struct File {
        std::string path;
        dev_t device;
        ino_t inode;
    };
    static std::optional<File> look(const std::string& path);

    const std::optional<File> database_;
    const std::optional<File> log_;
};

}  // namespace knell::sqlite
