#pragma once

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/file_calls.hpp"

namespace knell::testing {

/// File calls that work as ever, but for one; keeps the names of all that were made.
class FaultyFiles {
  public:
    /// The `nth` call of that name fails with `error`.
    void fail(std::string_view name, int error, int nth = 1) {
        failing_ = name;
        error_ = error;
        nth_ = nth;
    }
    /// Is done before each call of that name: what another process does meanwhile.
    void before(std::string_view name, std::function<void()> act) {
        meanwhile_at_ = name;
        meanwhile_ = std::move(act);
    }
    /// No call of `write` takes more than that, and none of `read` gives more.
    void bytes_at_once(std::size_t bytes) { bytes_at_once_ = bytes; }

    const std::vector<std::string>& made() const { return made_; }
    int count(std::string_view name) const {
        return static_cast<int>(std::ranges::count(made_, name));
    }

    /// Refers to this.
    FileCalls calls() {
        const FileCalls real;
        FileCalls faulty;
        faulty.open = [this, real](const char* path, int flags, mode_t mode) {
            return refuses("open") ? -1 : real.open(path, flags, mode);
        };
        faulty.flock = [this, real](int fd, int how) {
            return refuses("flock") ? -1 : real.flock(fd, how);
        };
        faulty.fstat = [this, real](int fd, struct stat* found) {
            return refuses("fstat") ? -1 : real.fstat(fd, found);
        };
        faulty.read = [this, real](int fd, void* bytes, std::size_t size) -> ssize_t {
            return refuses("read") ? -1 : real.read(fd, bytes, std::min(size, bytes_at_once_));
        };
        faulty.write = [this, real](int fd, const void* bytes, std::size_t size) -> ssize_t {
            return refuses("write") ? -1 : real.write(fd, bytes, std::min(size, bytes_at_once_));
        };
        faulty.ftruncate = [this, real](int fd, off_t size) {
            return refuses("ftruncate") ? -1 : real.ftruncate(fd, size);
        };
        faulty.fdatasync = [this, real](int fd) {
            return refuses("fdatasync") ? -1 : real.fdatasync(fd);
        };
        faulty.fsync = [this, real](int fd) { return refuses("fsync") ? -1 : real.fsync(fd); };
        return faulty;
    }

  private:
    bool refuses(std::string_view name) {
        made_.emplace_back(name);
        if (name == meanwhile_at_ && meanwhile_) meanwhile_();
        if (name != failing_ || count(name) != nth_) return false;
        errno = error_;
        return true;
    }

    std::string failing_;
    int error_ = 0;
    int nth_ = 0;
    std::string meanwhile_at_;
    std::function<void()> meanwhile_;
    std::size_t bytes_at_once_ = SIZE_MAX;
    std::vector<std::string> made_;
};

}  // namespace knell::testing
