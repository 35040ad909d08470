#include "platform/directories.hpp"

#include <cerrno>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace knell {

namespace {

std::unexpected<Error> cannot_use(const std::string& path, int error) {
    return fail(ErrorCode::storage, fmt::format("cannot use the directory {}: {}", path,
                                                std::generic_category().message(error)));
}

std::unexpected<Error> belongs_to(const std::string& path, uid_t uid) {
    return fail(ErrorCode::unauthorized,
                fmt::format("{} belongs to another user (uid {}); set KNELL_HOME to a directory "
                            "of your own",
                            path, uid));
}

}  // namespace

Result<void> make_private_directories(const std::string& path) {
    for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
        const auto part = path.substr(0, end);
        // Another process may make it at the same moment; EEXIST is success.  EROFS and EACCES are
        // what mkdir may answer for a parent that does exist.
        if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST && end == std::string::npos) {
            return fail(ErrorCode::storage, fmt::format("cannot make the directory {}: {}", path,
                                                        std::generic_category().message(errno)));
        }
        if (end == std::string::npos) return {};
    }
}

Result<Fd> open_private_directory(const std::string& path) {
    struct stat found{};
    const Fd entry{::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
    if (!entry || ::fstat(entry.get(), &found) != 0) return cannot_use(path, errno);
    // Whoever owns a link can turn it to another directory of ours while we run.
    if (S_ISLNK(found.st_mode) && found.st_uid != ::geteuid() && found.st_uid != 0) {
        return belongs_to(path, found.st_uid);
    }
    Fd directory{::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (!directory || ::fstat(directory.get(), &found) != 0) return cannot_use(path, errno);
    if (found.st_uid != ::geteuid()) return belongs_to(path, found.st_uid);
    // Such as /tmp, for root: to close it would break everybody else.
    if ((found.st_mode & S_ISVTX) != 0 && (found.st_mode & S_IWOTH) != 0) {
        return fail(ErrorCode::unauthorized,
                    fmt::format("{} is shared by all users; give knell a directory of its own, "
                                "such as {}/knell",
                                path, path));
    }
    if ((found.st_mode & 077U) != 0 &&
        ::chmod(fmt::format("/proc/self/fd/{}", directory.get()).c_str(), 0700) != 0) {
        return cannot_use(path, errno);
    }
    return directory;
}

Result<Fd> open_inner_directory(const std::string& path) {
    struct stat found{};
    Fd directory{::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
    if (!directory || ::fstat(directory.get(), &found) != 0) return cannot_use(path, errno);
    const auto refuse = [&path](std::string_view why) {
        return fail(ErrorCode::unauthorized,
                    fmt::format("{} {}; move it away, knell makes it anew", path, why));
    };
    if (S_ISLNK(found.st_mode)) return refuse("is a symbolic link, which is not followed");
    if (!S_ISDIR(found.st_mode)) return refuse("is not a directory");
    if (found.st_uid != ::geteuid()) {
        return refuse(fmt::format("belongs to another user (uid {})", found.st_uid));
    }
    // What they have put into it would be taken for ours.
    if ((found.st_mode & 022U) != 0) {
        return refuse(
            fmt::format("can be written to by other users (mode {:04o})", found.st_mode & 07777U));
    }
    if ((found.st_mode & 077U) != 0 &&
        ::chmod(fmt::format("/proc/self/fd/{}", directory.get()).c_str(), 0700) != 0) {
        return cannot_use(path, errno);
    }
    return directory;
}

}  // namespace knell
