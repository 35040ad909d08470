#include "deliver/hook_run.hpp"

#include <array>
#include <charconv>
#include <map>
#include <memory>

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/pidfd.hpp"
#include "platform/proc_stat.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

struct Member {
    pid_t pid;
    std::uint64_t start_ticks;
};
using Groups = std::map<pid_t, std::vector<Member>>;

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

/// Groups whose number is that of their session too, as a hook's is, with those who live in them.
Groups groups_of_sessions() {
    Groups groups;
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc"), closedir);
    if (directory == nullptr) return groups;
    while (const auto* entry = readdir(directory.get())) {
        pid_t pid = 0;
        if (!take_number(std::string_view(entry->d_name), pid)) continue;
        const auto stat = read_proc_stat(pid);
        if (!stat || stat->is_dead() || stat->group <= 1 || stat->group != stat->session) continue;
        groups[stat->group].push_back({pid, stat->start_ticks});
    }
    return groups;
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

/// The run that a group is proven to be, if an earlier daemon of the node left it behind.
std::optional<HookRun> orphaned_run(pid_t group, const std::vector<Member>& members,
                                    const std::string& node, std::uint64_t pid_namespace) {
    for (const auto& member : members) {
        auto run = run_in_environment_of(member.pid);
        if (!run || run->node != node || run->group != group) continue;
        if (run->pid_namespace != pid_namespace || is_daemon_alive(*run)) continue;
        return run;
    }
    return std::nullopt;
}

}  // namespace

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

std::vector<HookOrphan> find_hook_orphans(const std::string& node) {
    std::vector<HookOrphan> orphans;
    const auto pid_namespace = own_pid_namespace();
    if (pid_namespace == 0) return orphans;
    for (const auto& [group, members] : groups_of_sessions()) {
        const auto run = orphaned_run(group, members, node, pid_namespace);
        if (!run) continue;
        for (const auto& member : members) {
            Fd pidfd{pidfd_open(member.pid, 0)};
            // Held first, then looked at: who has the number now may not be who had it then.
            const auto stat = read_proc_stat(member.pid);
            if (!pidfd || !stat || stat->is_dead()) continue;
            if (stat->start_ticks != member.start_ticks || stat->group != group) continue;
            orphans.push_back({run->hook, member.pid, std::move(pidfd)});
        }
    }
    return orphans;
}

}  // namespace knell
