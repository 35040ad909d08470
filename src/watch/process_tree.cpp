#include "watch/process_tree.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include "platform/small_file.hpp"
#include "watch/proc_sockets.hpp"

namespace knell {

namespace {

/// The entries of a folder whose names are numbers; nothing when it cannot be read.
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
    return read_small_file(fmt::format("/proc/{}/environ", pid));
}

std::string ProcTree::command_line(pid_t pid) const {
    return read_small_file(fmt::format("/proc/{}/cmdline", pid)).value_or("");
}

std::optional<Sockets> ProcTree::sockets(pid_t pid) const {
    return read_proc_sockets(pid);
}

bool ProcTree::is_knell_daemon(pid_t pid) const {
    if (pid == getpid()) return true;
    std::error_code unreadable;
    const auto ours = std::filesystem::read_symlink("/proc/self/exe", unreadable);
    const auto its = std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), unreadable);
    if (unreadable || ours != its) return false;
    return (command_line(pid) + '\0').contains(std::string_view("\0up\0", 4));
}

bool ProcTree::is_same_file(const std::string& one, const std::string& other) const {
    std::error_code absent;
    return one == other || std::filesystem::equivalent(one, other, absent);
}

}  // namespace knell
