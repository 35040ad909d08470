#include "watch/process_tree.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>

#include <dirent.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "platform/proc_stat.hpp"
#include "platform/proc_status.hpp"
#include "platform/small_file.hpp"
#include "watch/proc_sockets.hpp"

namespace knell {

namespace {

/// The entries of a directory whose names are numbers; nothing when it cannot be read.
std::optional<std::vector<pid_t>> numbers_in(const std::string& path) {
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()), closedir);
    if (directory == nullptr) return std::nullopt;
    std::vector<pid_t> numbers;
    while (const auto* entry = readdir(directory.get())) {
        const std::string_view name = entry->d_name;
        pid_t number = 0;
        const auto* end = name.data() + name.size();
        const auto [stop, error] = std::from_chars(name.data(), end, number);
        if (error == std::errc{} && stop == end) numbers.push_back(number);
    }
    return numbers;
}

void add_numbers(std::vector<pid_t>& numbers, std::string_view text) {
    while (!text.empty()) {
        const auto word = text.substr(0, text.find(' '));
        pid_t number = 0;
        const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (error == std::errc{}) numbers.push_back(number);
        text.remove_prefix(std::min(word.size() + 1, text.size()));
    }
}

/// How long what is being executed is looked at again.
constexpr int exec_looks_max = 50;
constexpr int exec_look_every_ms = 2;

/// Between the old program and the new one a process has no environment, and looks as if it had
/// been started without any: where that ends is not known yet.  Kernel threads, and the dead, have
/// no program.
bool is_executing(pid_t pid) {
    std::error_code none;
    static_cast<void>(std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), none));
    const auto stat = read_small_file(fmt::format("/proc/{}/stat", pid));
    if (none || !stat) return false;
    auto rest = std::string_view(*stat).substr(stat->rfind(')') + 2);  // field 3
    constexpr int env_end = 51;
    for (int field = 3; field < env_end; ++field) rest.remove_prefix(rest.find(' ') + 1);
    return rest.starts_with("0 ");
}

}  // namespace

std::vector<pid_t> ProcTree::pids() const {
    return numbers_in("/proc").value_or(std::vector<pid_t>{});
}

std::optional<std::vector<pid_t>> ProcTree::children(pid_t pid) const {
    const auto threads = numbers_in(fmt::format("/proc/{}/task", pid));
    if (!threads) return std::nullopt;
    std::vector<pid_t> found;
    bool told = false;
    for (const auto thread : *threads) {
        const auto text = read_small_file(fmt::format("/proc/{}/task/{}/children", pid, thread));
        if (!text) continue;  // a thread that just ended, or a kernel that does not tell
        told = true;
        add_numbers(found, *text);
    }
    if (!told) return std::nullopt;
    return found;
}

std::optional<std::string> ProcTree::environment(pid_t pid) const {
    const auto path = fmt::format("/proc/{}/environ", pid);
    for (int looks = 0; looks < exec_looks_max; ++looks) {
        auto text = read_small_file(path);
        if (!text || !text->empty()) return text;
        if (!is_executing(pid)) break;
        ::poll(nullptr, 0, exec_look_every_ms);
    }
    return read_small_file(path);  // it may have been executing until a moment ago
}

std::string ProcTree::command_line(pid_t pid) const {
    return read_small_file(fmt::format("/proc/{}/cmdline", pid)).value_or("");
}

std::optional<Sockets> ProcTree::sockets(pid_t pid) const {
    return read_proc_sockets(pid);
}

bool ProcTree::is_knell(pid_t pid) const {
    if (pid == getpid()) return true;
    std::error_code unreadable;
    const auto ours = std::filesystem::read_symlink("/proc/self/exe", unreadable);
    const auto its = std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), unreadable);
    return !unreadable && ours == its;
}

std::optional<ProcStat> ProcTree::stat(pid_t pid) const {
    auto found = read_proc_stat(pid);
    // The first thread has ended and others run: the process lives.
    if (found && found->is_dead() && has_living_thread(pid)) found->state = 'S';
    return found;
}

bool ProcTree::is_same_file(const std::string& one, const std::string& other) const {
    std::error_code absent;
    return one == other || std::filesystem::equivalent(one, other, absent);
}

}  // namespace knell
