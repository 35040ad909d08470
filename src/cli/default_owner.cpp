#include "cli/default_owner.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/proc_stat.hpp"
#include "platform/proc_status.hpp"

namespace knell::cli {

namespace {

constexpr std::size_t ancestors_max = 64;

bool run_same_program(pid_t one, pid_t other) {
    struct stat a{};
    struct stat b{};
    return ::stat(fmt::format("/proc/{}/exe", one).c_str(), &a) == 0 &&
           ::stat(fmt::format("/proc/{}/exe", other).c_str(), &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

}  // namespace

std::optional<pid_t> choose_owner(std::span<const Ancestor> ancestors, pid_t own_session) {
    for (std::size_t i = 0; i < ancestors.size(); ++i) {
        const auto& one = ancestors[i];
        if (one.is_subshell) continue;
        if (one.pid == 1 && one.session != own_session) return std::nullopt;
        if (one.pid == one.group || one.pid == one.session) return one.pid;
        const bool is_last = i + 1 == ancestors.size() || ancestors[i + 1].session != one.session;
        if (is_last) return one.pid;
    }
    return std::nullopt;
}

std::optional<pid_t> default_owner() {
    // Its numbers would be of another namespace than those we can name.
    if (!proc_counts_as_we_do()) return ::getppid() > 0 ? std::optional(::getppid()) : std::nullopt;
    std::vector<Ancestor> ancestors;
    for (pid_t pid = ::getppid(); pid > 0 && ancestors.size() < ancestors_max;) {
        const auto stat = read_proc_stat(pid);
        if (!stat) break;
        const bool is_subshell = stat->is_forked_copy && run_same_program(pid, stat->parent);
        ancestors.push_back({pid, stat->group, stat->session, is_subshell});
        pid = stat->parent;
    }
    return choose_owner(ancestors, ::getsid(0));
}

}  // namespace knell::cli
