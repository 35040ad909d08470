#include "platform/marked_run.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <map>
#include <memory>

#include <dirent.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/pidfd.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

/// What is killed may have started something a moment before.
constexpr int rounds_max = 10;
constexpr int round_millis = 200;

struct Member {
    pid_t pid;
    ProcStat stat;
};

template <typename Number>
bool take_number(std::string_view text, Number& number) {
    const auto* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && stop == end;
}

std::uint64_t own_pid_namespace() {
    struct stat found{};
    return ::stat("/proc/self/ns/pid", &found) == 0 ? found.st_ino : 0;
}

std::vector<Member> all_processes() {
    std::vector<Member> all;
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc"), closedir);
    if (directory == nullptr) return all;
    while (const auto* entry = readdir(directory.get())) {
        pid_t pid = 0;
        if (!take_number(std::string_view(entry->d_name), pid)) continue;
        const auto stat = read_proc_stat(pid);
        if (stat && !stat->is_dead()) all.push_back({pid, *stat});
    }
    return all;
}

std::optional<MarkedRun> run_in_environment_of(pid_t pid, std::string_view variable) {
    const auto environment = read_small_file(fmt::format("/proc/{}/environ", pid));
    if (!environment) return std::nullopt;
    std::string_view rest = *environment;
    while (!rest.empty()) {
        auto entry = rest.substr(0, rest.find('\0'));
        rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
        if (!entry.starts_with(variable)) continue;
        entry.remove_prefix(variable.size());
        if (entry.starts_with('=')) return parse_marked_run(entry.substr(1));
    }
    return std::nullopt;
}

bool is_daemon_alive(const MarkedRun& run) {
    const auto stat = read_proc_stat(run.daemon);
    return stat && !stat->is_dead() && stat->start_ticks == run.daemon_start_ticks;
}

bool ends_within(const MarkedOrphan& orphan, int millis) {
    pollfd look{.fd = orphan.pidfd.get(), .events = POLLIN, .revents = 0};
    return ::poll(&look, 1, millis) > 0;
}

bool is_in_group(const ProcStat& stat, pid_t group) {
    return group > 1 && stat.group == group && stat.session == group;
}

}  // namespace

std::optional<MarkedOrphan> hold_orphan(pid_t pid, const ProcStat& seen, const std::string& name) {
    // Held first, then looked at: who has the number now may not be who had it then.
    Fd pidfd{pidfd_open(pid, 0)};
    const auto stat = read_proc_stat(pid);
    if (!pidfd || !stat || stat->is_dead()) return std::nullopt;
    if (stat->start_ticks != seen.start_ticks || stat->group != seen.group) return std::nullopt;
    return MarkedOrphan{name, pid, std::move(pidfd)};
}

std::string text_before_group(const MarkedRun& run) {
    return fmt::format("{}:{}:{}:{}:{}:", run.node, run.pid_namespace, run.daemon,
                       run.daemon_start_ticks, run.name);
}

std::optional<MarkedRun> parse_marked_run(std::string_view text) {
    std::array<std::string_view, 6> fields;
    for (std::size_t i = 0; i + 1 < fields.size(); ++i) {
        const auto end = text.find(':');
        if (end == std::string_view::npos) return std::nullopt;
        fields.at(i) = text.substr(0, end);
        text.remove_prefix(end + 1);
    }
    fields.back() = text;
    MarkedRun run;
    run.node = fields[0];
    run.name = fields[4];
    if (!take_number(fields[1], run.pid_namespace) || !take_number(fields[2], run.daemon) ||
        !take_number(fields[3], run.daemon_start_ticks) || !take_number(fields[5], run.group)) {
        return std::nullopt;
    }
    return run;
}

MarkedRun run_of_ours(const std::string& node, const std::string& name) {
    const auto self = read_proc_stat(getpid());
    return {.node = node,
            .pid_namespace = own_pid_namespace(),
            .daemon = getpid(),
            .daemon_start_ticks = self ? self->start_ticks : 0,
            .name = name,
            .group = 0};
}

MarkedOrphans find_marked_orphans(std::string_view variable, const std::string& node) {
    MarkedOrphans orphans;
    const auto pid_namespace = own_pid_namespace();
    if (pid_namespace == 0) return orphans;
    const auto processes = all_processes();
    std::map<pid_t, std::string> names;  // by the group that is proven to be theirs
    for (const auto& process : processes) {
        const auto run = run_in_environment_of(process.pid, variable);
        if (!run || run->node != node) continue;
        if (run->pid_namespace != pid_namespace || is_daemon_alive(*run)) continue;
        if (is_in_group(process.stat, run->group)) {
            names.emplace(run->group, run->name);
        } else if (auto held = hold_orphan(process.pid, process.stat, run->name)) {
            orphans.away.push_back(std::move(*held));
        }
    }
    for (const auto& process : processes) {
        const auto name = names.find(process.stat.group);
        if (name == names.end() || !is_in_group(process.stat, name->first)) continue;
        if (auto held = hold_orphan(process.pid, process.stat, name->second)) {
            orphans.in_group.push_back(std::move(*held));
        }
    }
    return orphans;
}

StoppedOrphans stop_marked_orphans(std::string_view variable, const std::string& node) {
    StoppedOrphans told;
    for (int round = 0; round < rounds_max; ++round) {
        auto found = find_marked_orphans(variable, node);
        told.left_alone.clear();
        for (const auto& away : found.away) told.left_alone.emplace_back(away.name, away.pid);
        told.not_gone = std::move(found.in_group);
        if (told.not_gone.empty()) break;
        for (const auto& orphan : told.not_gone) {
            pidfd_send_signal(orphan.pidfd.get(), SIGKILL, nullptr, 0);
            const auto one = std::pair(orphan.name, orphan.pid);
            if (std::ranges::find(told.stopped, one) == told.stopped.end()) {
                told.stopped.push_back(one);
            }
        }
        for (const auto& orphan : told.not_gone) {
            if (!ends_within(orphan, round_millis)) break;
        }
    }
    return told;
}

bool is_gone(const MarkedOrphan& orphan) {
    return ends_within(orphan, 0);
}

}  // namespace knell
