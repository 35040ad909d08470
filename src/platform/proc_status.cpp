#include "platform/proc_status.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/fd.hpp"
#include "platform/pidfd.hpp"
#include "platform/proc_stat.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

/// The numbers of a line such as "NSpid:\t4242\t7".
std::vector<pid_t> numbers_in(std::string_view text) {
    std::vector<pid_t> numbers;
    while (!text.empty()) {
        const auto start = text.find_first_not_of(" \t");
        if (start == std::string_view::npos) break;
        text.remove_prefix(start);
        pid_t number = 0;
        const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc{}) break;
        numbers.push_back(number);
        text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    }
    return numbers;
}

/// The real one of "Uid:\t1000\t1000\t1000\t1000"; ids may be beyond what a pid can be.
std::optional<uid_t> uid_in(std::string_view text) {
    const auto start = text.find_first_not_of(" \t");
    if (start == std::string_view::npos) return std::nullopt;
    text.remove_prefix(start);
    uid_t uid = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), uid);
    return error == std::errc{} ? std::optional(uid) : std::nullopt;
}

}  // namespace

std::optional<ProcStatus> parse_proc_status(std::string_view status) {
    ProcStatus found;
    while (!status.empty()) {
        const auto line = status.substr(0, status.find('\n'));
        status.remove_prefix(std::min(line.size() + 1, status.size()));
        // The name of a process cannot hold a newline here: the kernel escapes it.
        if (line.starts_with("Tgid:")) {
            const auto numbers = numbers_in(line.substr(5));
            if (numbers.size() == 1) found.process = numbers.front();
        } else if (line.starts_with("NSpid:")) {
            found.pids = numbers_in(line.substr(6));
        } else if (line.starts_with("Uid:")) {
            found.uid = uid_in(line.substr(4));
        }
    }
    if (found.process <= 0) return std::nullopt;
    return found;
}

std::optional<ProcStatus> read_proc_status(pid_t pid, const std::string& proc) {
    const auto text = read_small_file(fmt::format("{}/{}/status", proc, pid));
    return text ? parse_proc_status(*text) : std::nullopt;
}

std::vector<pid_t> threads_of(pid_t pid, const std::string& proc) {
    std::vector<pid_t> threads;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(
        opendir(fmt::format("{}/{}/task", proc, pid).c_str()), closedir);
    if (folder == nullptr) return threads;
    while (const auto* entry = readdir(folder.get())) {
        const std::string_view name = entry->d_name;
        pid_t thread = 0;
        const auto* end = name.data() + name.size();
        const auto [stop, error] = std::from_chars(name.data(), end, thread);
        if (error == std::errc{} && stop == end) threads.push_back(thread);
    }
    return threads;
}

bool has_living_thread(pid_t pid, const std::string& proc) {
    const auto threads = threads_of(pid, proc);
    // With no descriptor left to read with, the links of the folder still count them: two, and one
    // for each thread.  Whoever is not sure must not say that it has ended.
    if (threads.empty()) {
        struct stat found{};
        return stat(fmt::format("{}/{}/task", proc, pid).c_str(), &found) == 0 &&
               found.st_nlink > 3;
    }
    return std::ranges::any_of(threads, [&](pid_t thread) {
        errno = 0;
        const auto text = read_small_file(fmt::format("{}/{}/task/{}/stat", proc, pid, thread));
        if (!text) return errno == EMFILE || errno == ENFILE;
        const auto one = parse_proc_stat(*text);
        return one && !one->is_dead();
    });
}

std::uint64_t own_pid_namespace() {
    struct stat status{};
    return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

bool proc_counts_as_we_do() {
    std::array<char, 32> name{};
    const auto size = readlink("/proc/self", name.data(), name.size());
    if (size <= 0) return false;
    return std::string_view(name.data(), static_cast<std::size_t>(size)) ==
           fmt::format("{}", getpid());
}

pid_t pid_in_proc(pid_t pid) {
    if (proc_counts_as_we_do()) return pid;
    const Fd pidfd{pidfd_open(pid, 0)};
    return pidfd ? pid_behind(pidfd.get()) : 0;
}

pid_t pid_behind(int pidfd) {
    const auto text = read_small_file(fmt::format("/proc/self/fdinfo/{}", pidfd));
    const auto start = text ? text->find("\nPid:") : std::string::npos;
    if (start == std::string::npos) return 0;
    const auto line = std::string_view(*text).substr(start + 5);
    const auto numbers = numbers_in(line.substr(0, line.find('\n')));
    return numbers.empty() || numbers.front() < 0 ? 0 : numbers.front();
}

}  // namespace knell
