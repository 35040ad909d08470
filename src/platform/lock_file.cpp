#include "platform/lock_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/file_kind.hpp"
#include "platform/proc_stat.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

constexpr auto dead_holder_look = 2ms;
/// Whoever only looks whether the lock is free (`lock_holder`) has it for less than this.
constexpr std::chrono::milliseconds look_time_max = 20ms;
constexpr int open_attempts_max = 8;
constexpr std::size_t lock_file_bytes_max = 16U << 10U;

std::string our_boot_id() {
    auto text = read_small_file("/proc/sys/kernel/random/boot_id").value_or("");
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

std::string our_pid_namespace() {
    std::array<char, PATH_MAX> name{};
    const auto size = readlink("/proc/self/ns/pid", name.data(), name.size());
    return size <= 0 ? std::string{} : std::string(name.data(), static_cast<std::size_t>(size));
}

std::string describe_us(const LockFile::Note& note) {
    const auto stat = read_proc_stat(getpid());
    // The pid stands alone in the first line: scripts read it.
    return fmt::format("{}\nstart_ticks {}\nboot_id {}\npid_namespace {}\nhome {}\nsocket {}\n",
                       getpid(), stat ? stat->start_ticks : 0, our_boot_id(), our_pid_namespace(),
                       note.home, note.socket);
}

template <typename Number>
Number number_in(std::string_view text) {
    Number number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

LockHolder parse_holder(std::string_view text) {
    LockHolder holder;
    holder.pid = number_in<pid_t>(text);
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        const auto space = line.find(' ');
        if (space == std::string_view::npos) continue;
        const auto name = line.substr(0, space);
        const auto value = line.substr(space + 1);
        if (name == "start_ticks") holder.start_ticks = number_in<std::uint64_t>(value);
        if (name == "boot_id") holder.boot_id = value;
        if (name == "pid_namespace") holder.pid_namespace = value;
        if (name == "home") holder.home = value;
        if (name == "socket") holder.socket = value;
    }
    return holder;
}

LockHolder read_holder(const std::string& path) {
    return parse_holder(read_regular_file(path, lock_file_bytes_max).value_or(""));
}

bool is_running(const LockHolder& holder) {
    const auto stat = holder.pid > 0 ? read_proc_stat(holder.pid) : std::nullopt;
    if (!stat || stat->is_dead()) return false;
    return holder.start_ticks == 0 || stat->start_ticks == holder.start_ticks;
}

/// Takes the lock, at once or when its holder turns out to be dead.  Else errno says why not:
/// EWOULDBLOCK when somebody has it.
bool take(const Fd& file, const std::string& path, std::chrono::milliseconds wait) {
    const auto began = std::chrono::steady_clock::now();
    while (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) return false;
        const auto waited = std::chrono::steady_clock::now() - began;
        if (waited > look_time_max && (waited > wait || is_running(read_holder(path)))) {
            errno = EWOULDBLOCK;
            return false;
        }
        std::this_thread::sleep_for(dead_holder_look);
    }
    return true;
}

bool is_same_file(const struct stat& one, const struct stat& other) {
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

bool names_the_file(const std::string& path, int file) {
    struct stat opened{};
    struct stat named{};
    return fstat(file, &opened) == 0 && lstat(path.c_str(), &named) == 0 &&
           is_same_file(opened, named);
}

bool is_regular(const Fd& file) {
    struct stat opened{};
    return fstat(file.get(), &opened) == 0 && S_ISREG(opened.st_mode);
}

/// The lock is released at once where it was free.
bool is_locked(const std::string& path) {
    const Fd file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)};
    return file && flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

std::unexpected<Error> cannot_open(const std::string& path, int error) {
    if (const auto why = why_no_file(path); !why.empty()) {
        return fail(ErrorCode::storage, fmt::format("cannot lock {}: {}", path, why));
    }
    return fail(ErrorCode::storage,
                fmt::format("cannot open {}: {}; check that its directory is writable", path,
                            std::generic_category().message(error)));
}

}  // namespace

Result<std::optional<LockFile>> LockFile::acquire(const std::string& path, const Note& note,
                                                  std::chrono::milliseconds dead_holder_wait) {
    for (int attempt = 0; attempt < open_attempts_max; ++attempt) {
        Fd file{open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600)};
        // A pipe can be locked, but cannot tell who did.
        if (!file || !is_regular(file)) return cannot_open(path, file ? EINVAL : errno);
        if (!take(file, path, dead_holder_wait)) {
            if (errno == EWOULDBLOCK) return std::nullopt;
            return cannot_open(path, errno);
        }
        // Somebody may have replaced the file between the two: a lock on a file without its name
        // keeps nobody out.
        if (!names_the_file(path, file.get())) continue;
        const auto text = describe_us(note);
        // The text serves to find us; the lock itself is what counts, so a full disk is no
        // obstacle.
        if (ftruncate(file.get(), 0) == 0) {
            [[maybe_unused]] const auto written = pwrite(file.get(), text.data(), text.size(), 0);
        }
        return LockFile(path, std::move(file));
    }
    return fail(ErrorCode::storage, fmt::format("cannot lock {}: it keeps being replaced", path));
}

bool LockFile::is_in_place() const {
    return names_the_file(path_, file_.get());
}

std::optional<FolderLock> FolderLock::acquire(const std::string& folder,
                                              const std::string& lock_file,
                                              std::chrono::milliseconds dead_holder_wait) {
    Fd opened{open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (opened && !take(opened, lock_file, dead_holder_wait)) {
        if (errno == EWOULDBLOCK) return std::nullopt;
        opened = Fd{};
    }
    return FolderLock(folder, std::move(opened));
}

bool FolderLock::is_held(const std::string& folder) {
    const Fd opened{open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    return opened && flock(opened.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

bool FolderLock::is_in_place() const {
    struct stat opened{};
    struct stat named{};
    // A home may be reached through a link.
    return folder_ && fstat(folder_.get(), &opened) == 0 && stat(path_.c_str(), &named) == 0 &&
           is_same_file(opened, named);
}

std::optional<LockHolder> lock_holder(const std::string& path) {
    if (!is_locked(path)) return std::nullopt;
    return read_holder(path);
}

namespace {

/// Whether one of the descriptors of that process holds the lock, as the kernel tells it.
bool has_locked(pid_t pid, const std::string& path) {
    struct stat wanted{};
    if (::stat(path.c_str(), &wanted) != 0) return false;
    const auto process = fmt::format("/proc/{}", pid);
    std::error_code unreadable;
    for (const auto& entry : std::filesystem::directory_iterator(process + "/fd", unreadable)) {
        struct stat found{};
        if (::stat(entry.path().c_str(), &found) != 0) continue;
        if (!is_same_file(found, wanted)) continue;
        const auto name = entry.path().filename().string();
        const auto info = read_small_file(process + "/fdinfo/" + name);
        if (info && info->contains("FLOCK")) return true;
    }
    return false;
}

}  // namespace

Result<Fd> open_lock_holder(const std::string& path, const LockHolder& holder) {
    const auto unproven = [](std::string why) {
        return fail(ErrorCode::unreachable, std::move(why));
    };
    if (holder.pid <= 0 || holder.start_ticks == 0) {
        return unproven("does not say who it is");
    }
    if (holder.boot_id != our_boot_id()) return unproven("runs on another host, or before a boot");
    if (holder.pid_namespace != our_pid_namespace()) {
        return unproven("runs in another pid namespace, such as a container");
    }
    Fd pidfd{static_cast<int>(syscall(SYS_pidfd_open, holder.pid, 0U))};
    if (!pidfd) {
        return unproven(
            fmt::format("cannot be watched from here: {}", std::generic_category().message(errno)));
    }
    // After the pidfd was opened: what is true of the pid now is true of what the pidfd means.
    if (!is_running(holder)) return unproven("is gone, though something still holds its lock");
    // The file may say anything, and somebody else hold it.
    if (!has_locked(holder.pid, path)) return unproven("is not proven to hold it");
    if (!is_locked(path)) return unproven("has just released its lock");
    return pidfd;
}

}  // namespace knell
