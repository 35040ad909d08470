#include "activity/process_look.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/text.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

/// Descriptors of one process that are looked at: a server with more connections than this is busy
/// anyway, and its listeners are among the first it opened.
constexpr std::size_t descriptors_max = 1024;
/// Each thread has its own list of children.  With more threads than this they are not read at each
/// look, but when the process has used the processor, which starting one takes, or after a while.
constexpr std::int64_t threads_few = 8;
constexpr auto children_every = 30s;

using Directory = std::unique_ptr<DIR, int (*)(DIR*)>;

Directory open_directory(int folder, const char* name) {
    const int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return {nullptr, closedir};
    Directory directory(fdopendir(fd), closedir);
    if (!directory) ::close(fd);
    return directory;
}

std::uint64_t field_of(std::string_view text, std::string_view name) {
    const auto at = text.find(name);
    return at == std::string_view::npos ? 0
                                        : number_in<std::uint64_t>(text.substr(at + name.size()));
}

}  // namespace

std::optional<MemberLook> MemberLook::open(const std::string& proc, pid_t pid) {
    Fd folder(::open(fmt::format("{}/{}", proc, pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return std::nullopt;
    const auto stat = read_proc_stat_in(folder.get());
    if (!stat) return std::nullopt;
    return MemberLook(pid, std::move(folder), *stat);
}

bool MemberLook::is_there() const {
    const auto stat = read_proc_stat_in(folder_.get());
    return stat && !stat->is_dead();
}

std::optional<std::uint64_t> MemberLook::io_bytes() const {
    const auto io = read_small_file_in(folder_.get(), "io");
    if (!io) return std::nullopt;
    return field_of(*io, "rchar: ") + field_of(*io, "wchar: ");
}

bool MemberLook::add_children_of(pid_t thread, std::vector<pid_t>& pids) const {
    const auto text =
        read_small_file_in(folder_.get(), fmt::format("task/{}/children", thread).c_str());
    if (!text) return false;
    std::string_view rest(*text);
    while (!rest.empty()) {
        if (const auto pid = number_in<pid_t>(take_field(rest, ' ')); pid > 0) pids.push_back(pid);
    }
    return true;
}

bool MemberLook::read_children(KnownChildren& known, SteadyTime now) const {
    if (stat_.is_dead() && stat_.threads <= 1) return true;  // they are another's by now
    const auto cpu = stat_.cpu_ticks + stat_.waited_cpu_ticks;
    const bool is_costly = stat_.threads > threads_few;
    if (is_costly && known.read_at != SteadyTime{} && known.cpu_ticks == cpu &&
        now - known.read_at < children_every) {
        return true;
    }
    std::vector<pid_t> pids;
    bool told = false;
    if (stat_.threads <= 1) {
        told = add_children_of(pid_, pids);
    } else if (const auto threads = open_directory(folder_.get(), "task")) {
        while (const auto* entry = readdir(threads.get())) {
            const auto thread = number_in<pid_t>(entry->d_name);
            if (thread > 0) told = add_children_of(thread, pids) || told;
        }
    }
    if (!told) return false;
    known = {.pids = std::move(pids), .read_at = now, .cpu_ticks = cpu};
    return true;
}

bool MemberLook::list_sockets(std::vector<std::uint64_t>& inodes) const {
    const auto descriptors = open_directory(folder_.get(), "fd");
    if (!descriptors) return false;
    constexpr std::string_view prefix = "socket:[";
    std::size_t count = 0;
    while (const auto* entry = readdir(descriptors.get())) {
        if (entry->d_name[0] == '.') continue;
        if (++count > descriptors_max) break;
        std::array<char, 64> target{};
        const auto size =
            readlinkat(dirfd(descriptors.get()), entry->d_name, target.data(), target.size());
        if (size <= 0) continue;  // closed meanwhile
        const std::string_view text(target.data(), static_cast<std::size_t>(size));
        if (!text.starts_with(prefix)) continue;
        inodes.push_back(number_in<std::uint64_t>(text.substr(prefix.size())));
    }
    return true;
}

std::string MemberLook::waits_at() const {
    const bool may_read =
        stat_.terminal != 0 && stat_.state == 'S' && stat_.group == stat_.foreground_group;
    if (!may_read) return {};
    const auto wchan = read_small_file_in(folder_.get(), "wchan");
    return may_read_terminal(wchan.value_or("")) ? terminal_path(stat_.terminal) : std::string{};
}

std::uint64_t MemberLook::network() const {
    struct stat found{};
    return fstatat(folder_.get(), "ns/net", &found, 0) == 0 ? found.st_ino : 0;
}

std::string terminal_path(int device) {
    const auto number = static_cast<dev_t>(static_cast<unsigned>(device));
    const auto major = (number >> 8U) & 0xfffU;  // as the kernel packs them here
    const auto minor = (number & 0xffU) | ((number >> 12U) & 0xfff00U);
    constexpr unsigned consoles = 4;
    constexpr unsigned first_serial = 64;
    constexpr unsigned first_pts = 136;
    constexpr unsigned last_pts = 143;
    if (major >= first_pts && major <= last_pts) {
        return fmt::format("/dev/pts/{}", (major - first_pts) * 256 + minor);
    }
    if (major != consoles) return fmt::format("{}:{}", major, minor);
    if (minor < first_serial) return fmt::format("/dev/tty{}", minor);
    return fmt::format("/dev/ttyS{}", minor - first_serial);
}

bool may_read_terminal(std::string_view wchan) {
    // Those of read(2), select(2), poll(2) and epoll_wait(2).  Others wait for time, a child, a
    // lock or another machine.
    static constexpr std::array<std::string_view, 5> readers{"tty", "wait_woken", "poll", "select",
                                                             "epoll"};
    if (wchan.empty() || wchan == "0") return true;
    return std::ranges::any_of(readers,
                               [&](std::string_view reader) { return wchan.contains(reader); });
}

}  // namespace knell
