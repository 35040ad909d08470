#include "platform/log_file.hpp"

#include <cstdio>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/fd.hpp"

namespace knell {

namespace {

bool is_behind(int descriptor, const std::string& path) {
    struct stat opened{};
    struct stat named{};
    return ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
           S_ISREG(opened.st_mode) && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

bool are_the_same(int one, int other) {
    struct stat first{};
    struct stat second{};
    return ::fstat(one, &first) == 0 && ::fstat(other, &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

std::size_t size_of(int descriptor) {
    struct stat found{};
    return ::fstat(descriptor, &found) == 0 ? static_cast<std::size_t>(found.st_size) : 0;
}

}  // namespace

std::optional<LogFile> LogFile::behind(int descriptor, const std::string& path, Limits limits) {
    if (!is_behind(descriptor, path)) return std::nullopt;
    // One of an older knell, or of a looser umask.
    ::fchmod(descriptor, 0600);
    return LogFile(descriptor, path, limits);
}

void LogFile::rotate_when_full() {
    if (size_of(descriptor_) >= full_at_) rotate();
}

void LogFile::stay_in_place() {
    if (!is_behind(descriptor_, path_)) open_anew();
}

void LogFile::rotate() {
    // Somebody else's file may have taken the name; that is not ours to rename.
    if (is_behind(descriptor_, path_)) {
        for (int number = limits_.files_max - 1; number > 0; --number) {
            const auto older = fmt::format("{}.{}", path_, number);
            const auto newer = number == 1 ? path_ : fmt::format("{}.{}", path_, number - 1);
            std::rename(newer.c_str(), older.c_str());
        }
    }
    // A disk that gives no new file may give one later; not with each line.
    full_at_ = open_anew() ? limits_.bytes_max : size_of(descriptor_) + limits_.bytes_max;
}

bool LogFile::open_anew() {
    const Fd file{::open(
        path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600)};
    struct stat found{};
    if (!file || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return false;
    // Standard output, where it leads to the same file.
    if (descriptor_ == STDERR_FILENO && are_the_same(STDOUT_FILENO, STDERR_FILENO)) {
        ::dup2(file.get(), STDOUT_FILENO);
    }
    return ::dup2(file.get(), descriptor_) >= 0;
}

}  // namespace knell
