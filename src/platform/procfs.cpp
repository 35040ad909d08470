#include "platform/procfs.hpp"

#include <cerrno>
#include <system_error>

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/statfs.h>

namespace knell {

Result<void> check_procfs(const std::string& proc) {
    struct statfs found{};
    if (statfs(proc.c_str(), &found) == 0) {
        if (found.f_type == PROC_SUPER_MAGIC) return {};
    } else if (errno != ENOENT && errno != ENOTDIR) {
        return fail(ErrorCode::unreachable,
                    fmt::format("{} cannot be looked at: {}; knell needs it to tell which "
                                "processes live",
                                proc, std::generic_category().message(errno)));
    }
    return fail(ErrorCode::unreachable,
                fmt::format("{} is not mounted: knell needs it to tell which processes live; mount "
                            "it with: mkdir -p {} && mount -t proc proc {}",
                            proc, proc, proc));
}

}  // namespace knell
