#pragma once

#include <chrono>
#include <string>

#include "client/deadline.hpp"
#include "platform/fd.hpp"

namespace knell::client {

/// Wakes when something is made in a directory: here, a daemon's socket.
class DirectoryWatch {
  public:
    /// A directory that is not there yet cannot be watched; each wait then lasts its whole step.
    explicit DirectoryWatch(const std::string& directory);

    /// Waits for a change, at most `step` and not past the deadline.
    void wait(std::chrono::milliseconds step, const Deadline& deadline);

    /// For those who wait for more than this: readable after a change, until `clear`.
    int fd() const { return fd_.get(); }
    void clear();

  private:
    Fd fd_;
};

}  // namespace knell::client
