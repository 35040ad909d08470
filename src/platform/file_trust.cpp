#include "platform/file_trust.hpp"

#include <cerrno>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace knell {

Result<void> check_only_ours(const std::string& path) {
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0) {
        return fail(ErrorCode::not_found,
                    fmt::format("cannot be looked at: {}", std::generic_category().message(errno)));
    }
    const auto us = ::geteuid();
    if (found.st_uid != us && found.st_uid != 0) {
        return fail(ErrorCode::unauthorized,
                    fmt::format("belongs to user {}, who could change it; chown it to user {}",
                                found.st_uid, us));
    }
    if ((found.st_mode & S_IWOTH) != 0) {
        return fail(ErrorCode::unauthorized, "anybody could change it; chmod o-w");
    }
    return {};
}

}  // namespace knell
