#include "watch/process_table.hpp"

#include <cerrno>

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>

#include "platform/pidfd.hpp"
#include "platform/proc_stat.hpp"
#include "platform/small_file.hpp"
#include "watch/process_check.hpp"

namespace knell {

namespace {

std::string read_boot_id() {
    auto text = read_small_file("/proc/sys/kernel/random/boot_id").value_or("");
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

std::uint64_t inode_of(const char* path) {
    struct stat status{};
    return stat(path, &status) == 0 ? status.st_ino : 0;
}

bool has_exited(int pidfd) {
    pollfd look{.fd = pidfd, .events = POLLIN, .revents = 0};
    return poll(&look, 1, 0) > 0;
}

}  // namespace

ProcTable::ProcTable() : boot_id_(read_boot_id()), pid_namespace_(inode_of("/proc/self/ns/pid")) {}

std::optional<ProcessIdentity> ProcTable::identify(pid_t pid) const {
    const auto found = read_proc_stat(pid);
    if (!found || found->is_dead()) return std::nullopt;
    ProcessIdentity identity;
    identity.pid = pid;
    identity.start_ticks = found->start_ticks;
    identity.boot_id = boot_id_;
    // A pid that can be seen here counts here, whatever namespace the process itself lives in.
    identity.pid_namespace = pid_namespace_;
    return identity;
}

Sight ProcTable::look_at(pid_t pid) const {
    Sight sight{.pidfd = Fd{pidfd_open(pid, 0)}};
    if (!sight.pidfd && errno == ESRCH) {
        sight.nobody = true;
        return sight;
    }
    // After the descriptor is held the pid cannot be reused: what is read now is about its holder.
    if (const auto found = read_proc_stat(pid)) sight.start_ticks = found->start_ticks;
    sight.has_ended = sight.pidfd && has_exited(sight.pidfd.get());
    return sight;
}

std::optional<pid_t> ProcTable::parent_of(pid_t pid) const {
    const auto found = read_proc_stat(pid);
    return found ? std::optional(found->parent) : std::nullopt;
}

Departure ProcTable::how_it_went(const Sight& sight, const ProcessIdentity& process) const {
    return departure_of(sight.pidfd.get(), process);
}

}  // namespace knell
