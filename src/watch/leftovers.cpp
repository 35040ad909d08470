#include "watch/leftovers.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/text.hpp"
#include "core/limits.hpp"
#include "platform/proc_stat.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

struct Candidate {
    ProcStat stat;
    std::string found_by;
};

std::vector<pid_t> all_pids() {
    std::vector<pid_t> pids;
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc"), closedir);
    if (directory == nullptr) return pids;
    while (const auto* entry = readdir(directory.get())) {
        const std::string_view name = entry->d_name;
        pid_t pid = 0;
        const auto* end = name.data() + name.size();
        const auto [stop, error] = std::from_chars(name.data(), end, pid);
        if (error == std::errc{} && stop == end) pids.push_back(pid);
    }
    return pids;
}

/// The value of a variable in the environment a process was started with.
std::optional<std::string_view> variable_in(std::string_view environment, std::string_view name) {
    while (!environment.empty()) {
        const auto end = std::min(environment.find('\0'), environment.size());
        const auto entry = environment.substr(0, end);
        environment.remove_prefix(std::min(end + 1, environment.size()));
        if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
            return entry.substr(name.size() + 1);
        }
    }
    return std::nullopt;
}

/// Another daemon may have a session of the same name: both must be ours.
bool holds_cookie(pid_t pid, const LeftoverSearch& search) {
    const auto environment = read_small_file(fmt::format("/proc/{}/environ", pid));
    if (!environment) return false;
    if (variable_in(*environment, "KNELL_SESSION_ID") != search.session_id.text()) return false;
    const auto socket = variable_in(*environment, "KNELL_SOCKET");
    if (!socket) return false;
    std::error_code absent;
    return *socket == search.socket || std::filesystem::equivalent(*socket, search.socket, absent);
}

std::string command_line(pid_t pid) {
    auto text = read_small_file(fmt::format("/proc/{}/cmdline", pid)).value_or("");
    while (!text.empty() && text.back() == '\0') text.pop_back();
    std::ranges::replace_if(
        text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
    if (text.size() > limits::leftover_command_bytes_max) {
        text.resize(limits::leftover_command_bytes_max);
    }
    while (!is_utf8(text)) text.pop_back();  // a cut letter, or not text at all
    return text;
}

bool is_knell_daemon(pid_t pid) {
    std::error_code unreadable;
    const auto ours = std::filesystem::read_symlink("/proc/self/exe", unreadable);
    const auto its = std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), unreadable);
    return !unreadable && ours == its && command_line(pid).ends_with(" up");
}

/// How `pid` is known to belong to the session by itself, or "".
std::string own_evidence(pid_t pid, const ProcStat& stat, const LeftoverSearch& search) {
    if (holds_cookie(pid, search)) return "KNELL_SESSION_ID in its environment";
    if (search.reaper != 0 && stat.parent == search.reaper)
        return "left to the session's knell run";
    const bool in_group = stat.group == search.command || stat.session == search.command;
    if (search.command != 0 && in_group) {
        return "in the process group of the command";
    }
    return {};
}

/// Children of leftovers are leftovers, however deep.
void add_descendants(std::map<pid_t, Candidate>& candidates) {
    for (bool grew = true; grew;) {
        grew = false;
        for (auto& [pid, candidate] : candidates) {
            if (!candidate.found_by.empty()) continue;
            const auto parent = candidates.find(candidate.stat.parent);
            if (parent == candidates.end() || parent->second.found_by.empty()) continue;
            candidate.found_by = fmt::format("child of leftover {}", parent->first);
            grew = true;
        }
    }
}

}  // namespace

std::vector<Leftover> find_leftovers(LeftoverSearch search) {
    if (search.command_started != 0 && search.reaper != 0) {
        const auto reaper = read_proc_stat(search.reaper);
        if (!reaper || reaper->start_ticks > search.command_started) search.reaper = 0;
    }
    std::map<pid_t, Candidate> candidates;
    for (const auto pid : all_pids()) {
        if (pid == search.command || pid == search.reaper || pid == getpid()) continue;
        const auto stat = read_proc_stat(pid);
        if (!stat || stat->is_dead() || is_knell_daemon(pid)) continue;
        candidates[pid] = {*stat, own_evidence(pid, *stat, search)};
    }
    add_descendants(candidates);
    std::vector<Leftover> leftovers;
    for (const auto& [pid, candidate] : candidates) {
        if (candidate.found_by.empty()) continue;
        if (leftovers.size() == limits::leftovers_max) break;
        leftovers.push_back(
            {pid, candidate.stat.start_ticks, candidate.found_by, command_line(pid)});
    }
    return leftovers;
}

}  // namespace knell
