#pragma once

#include <functional>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace knell {

/// The system calls on files that others use at the same time.  Handed in, so that a test can make
/// each fail in each of its ways, and do in the middle of one what another process might.
struct FileCalls {
    std::function<int(const char*, int, mode_t)> open =
        [](const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); };
    std::function<int(int, int)> flock = ::flock;
    std::function<int(int, struct stat*)> fstat = [](int fd, struct stat* found) {
        return ::fstat(fd, found);
    };
    std::function<ssize_t(int, void*, std::size_t)> read = ::read;
    std::function<ssize_t(int, const void*, std::size_t)> write = ::write;
    std::function<int(int, off_t)> ftruncate = [](int fd, off_t size) {
        return ::ftruncate(fd, size);
    };
    std::function<int(int)> fdatasync = ::fdatasync;
    std::function<int(int)> fsync = ::fsync;
};

}  // namespace knell
