#include "platform/lock_file.hpp"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "platform/proc_stat.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

/// A daemon that was killed is gone before its lock is: a hook that it was just starting holds the
/// same open file until it has become its program.
constexpr auto dead_holder_patience = 3s;
constexpr auto dead_holder_look = 2ms;

std::string holder_of(const std::string& path) {
    auto holder = read_small_file(path).value_or("");
    while (!holder.empty() && holder.back() == '\n') holder.pop_back();
    return holder;
}

bool is_running(const std::string& holder) {
    pid_t pid = 0;
    std::from_chars(holder.data(), holder.data() + holder.size(), pid);
    const auto stat = pid > 0 ? read_proc_stat(pid) : std::nullopt;
    return stat && !stat->is_dead();
}

/// Takes the lock, at once or when its holder turns out to be dead.
bool take(const Fd& file, const std::string& path) {
    const auto give_up = std::chrono::steady_clock::now() + dead_holder_patience;
    while (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (is_running(holder_of(path)) || std::chrono::steady_clock::now() > give_up) return false;
        std::this_thread::sleep_for(dead_holder_look);
    }
    return true;
}

}  // namespace

Result<LockFile> LockFile::acquire(const std::string& path) {
    Fd file{open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
    if (!file) {
        return fail(ErrorCode::storage,
                    fmt::format("cannot open {}: {}; check that its folder is writable", path,
                                std::generic_category().message(errno)));
    }
    if (!take(file, path)) {
        const auto holder = holder_of(path);
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
