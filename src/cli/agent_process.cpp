#include "cli/agent_process.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "platform/proc_stat.hpp"
#include "platform/proc_status.hpp"
#include "platform/small_file.hpp"

namespace knell::cli {

namespace {

constexpr std::size_t ancestors_max = 64;
constexpr std::array<std::string_view, 12> shells{"sh",   "bash", "dash", "zsh",     "fish", "ksh",
                                                  "mksh", "ash",  "tcsh", "busybox", "csh",  "env"};

/// As the kernel calls it: 15 bytes at most, which every shell's name is shorter than.
std::string program_of(pid_t pid) {
    auto name = read_small_file(fmt::format("/proc/{}/comm", pid)).value_or("");
    while (!name.empty() && name.back() == '\n') name.pop_back();
    return name;
}

}  // namespace

bool is_shell(std::string_view program) {
    if (program.starts_with('-')) program.remove_prefix(1);  // a login shell
    return std::ranges::find(shells, program) != shells.end();
}

std::optional<pid_t> choose_agent(std::span<const NamedAncestor> ancestors) {
    const auto found = std::ranges::find_if(
        ancestors, [](const NamedAncestor& one) { return !is_shell(one.program); });
    if (found == ancestors.end() || found->pid <= 1) return std::nullopt;
    return found->pid;
}

std::optional<pid_t> agent_process(std::optional<pid_t> named) {
    if (!proc_counts_as_we_do()) return named;
    std::vector<NamedAncestor> ancestors;
    for (pid_t pid = ::getppid(); pid > 0 && ancestors.size() < ancestors_max;) {
        if (named == pid) return named;
        const auto stat = read_proc_stat(pid);
        if (!stat) break;
        ancestors.push_back({pid, program_of(pid)});
        pid = stat->parent;
    }
    return choose_agent(ancestors);
}

}  // namespace knell::cli
