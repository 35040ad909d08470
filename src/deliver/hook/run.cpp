#include "deliver/hook/run.hpp"

#include <array>
#include <charconv>
#include <map>
#include <memory>

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/pidfd.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

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

std::optional<HookRun> run_in_environment_of(pid_t pid) {
    const auto environment = read_small_file(fmt::format("/proc/{}/environ", pid));
    if (!environment) return std::nullopt;
    std::string_view rest = *environment;
    while (!rest.empty()) {
        auto entry = rest.substr(0, rest.find('\0'));
        rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
        if (!entry.starts_with(hook_run_variable)) continue;
        entry.remove_prefix(hook_run_variable.size());
        if (entry.starts_with('=')) return parse_hook_run(entry.substr(1));
    }
    return std::nullopt;
}

bool is_daemon_alive(const HookRun& run) {
    const auto stat = read_proc_stat(run.daemon);
    return stat && !stat->is_dead() && stat->start_ticks == run.daemon_start_ticks;
}

bool is_in_group(const ProcStat& stat, pid_t group) {
    return group > 1 && stat.group == group && stat.session == group;
}

}  // namespace

std::optional<HookOrphan> hold_orphan(pid_t pid, const ProcStat& seen, const std::string& hook) {
    // Held first, then looked at: who has the number now may not be who had it then.
    Fd pidfd{pidfd_open(pid, 0)};
    const auto stat = read_proc_stat(pid);
    if (!pidfd || !stat || stat->is_dead()) return std::nullopt;
    if (stat->start_ticks != seen.start_ticks || stat->group != seen.group) return std::nullopt;
    return HookOrphan{hook, pid, std::move(pidfd)};
}

std::string text_before_group(const HookRun& run) {
    return fmt::format("{}:{}:{}:{}:{}:", run.node, run.pid_namespace, run.daemon,
                       run.daemon_start_ticks, run.hook);
}

std::optional<HookRun> parse_hook_run(std::string_view text) {
    std::array<std::string_view, 6> fields;
    for (std::size_t i = 0; i + 1 < fields.size(); ++i) {
        const auto end = text.find(':');
        if (end == std::string_view::npos) return std::nullopt;
        fields.at(i) = text.substr(0, end);
        text.remove_prefix(end + 1);
    }
    fields.back() = text;
    HookRun run;
    run.node = fields[0];
    run.hook = fields[4];
    if (!take_number(fields[1], run.pid_namespace) || !take_number(fields[2], run.daemon) ||
        !take_number(fields[3], run.daemon_start_ticks) || !take_number(fields[5], run.group)) {
        return std::nullopt;
    }
    return run;
}

HookRun run_of_ours(const std::string& node, const std::string& hook) {
    const auto self = read_proc_stat(getpid());
    return {.node = node,
            .pid_namespace = own_pid_namespace(),
            .daemon = getpid(),
            .daemon_start_ticks = self ? self->start_ticks : 0,
            .hook = hook,
            .group = 0};
}

HookOrphans find_hook_orphans(const std::string& node) {
    HookOrphans orphans;
    const auto pid_namespace = own_pid_namespace();
    if (pid_namespace == 0) return orphans;
    const auto processes = all_processes();
    std::map<pid_t, std::string> hooks;  // by the group that is proven to be theirs
    for (const auto& process : processes) {
        const auto run = run_in_environment_of(process.pid);
        if (!run || run->node != node) continue;
        if (run->pid_namespace != pid_namespace || is_daemon_alive(*run)) continue;
        if (is_in_group(process.stat, run->group)) {
            hooks.emplace(run->group, run->hook);
        } else if (auto held = hold_orphan(process.pid, process.stat, run->hook)) {
            orphans.away.push_back(std::move(*held));
        }
    }
    for (const auto& process : processes) {
        const auto hook = hooks.find(process.stat.group);
        if (hook == hooks.end() || !is_in_group(process.stat, hook->first)) continue;
        if (auto held = hold_orphan(process.pid, process.stat, hook->second)) {
            orphans.in_group.push_back(std::move(*held));
        }
    }
    return orphans;
}

}  // namespace knell
