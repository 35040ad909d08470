#include "platform/lock_file.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "platform/small_file.hpp"

namespace knell {

Result<LockFile> LockFile::acquire(const std::string& path) {
    Fd file{open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
    if (!file) {
        return fail(ErrorCode::storage,
                    fmt::format("cannot open {}: {}; check that its folder is writable", path,
                                std::generic_category().message(errno)));
    }
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        auto holder = read_small_file(path).value_or("");
        while (!holder.empty() && holder.back() == '\n') holder.pop_back();
        return fail(ErrorCode::owned,
                    fmt::format("process {} already runs knell here (it holds {}); use it, or stop "
                                "it with `knell down`",
                                holder.empty() ? "?" : holder, path));
    }
    const auto pid = fmt::format("{}\n", getpid());
    // The number is for people; the lock itself is what counts, so a full disk is no obstacle.
    if (ftruncate(file.get(), 0) == 0) {
        [[maybe_unused]] const auto written = pwrite(file.get(), pid.data(), pid.size(), 0);
    }
    return LockFile(std::move(file));
}

}  // namespace knell
