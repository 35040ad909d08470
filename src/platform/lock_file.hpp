#pragma once

#include <string>

#include "core/error.hpp"
#include "platform/fd.hpp"

namespace knell {

/// Keeps a second daemon out of the same store for as long as it lives, however it dies: the kernel
/// drops the lock with the process.
class LockFile {
  public:
    /// Fails with the pid of the holder when another process has it.
    static Result<LockFile> acquire(const std::string& path);

  private:
    explicit LockFile(Fd file) : file_(std::move(file)) {}
    Fd file_;
};

}  // namespace knell
