#include "watch/process_table.hpp"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>

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

/// A leader that has ended is a zombie for as long as other threads of it run.
bool has_living_thread(pid_t pid) {
    std::error_code unreadable;
    for (const auto& entry :
         std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), unreadable)) {
        const auto stat = read_small_file(entry.path() / "stat");
        const auto thread = stat ? parse_proc_stat(*stat) : std::nullopt;
        if (thread && !thread->is_dead()) return true;
    }
    return false;
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
    const auto stat = [&] { return read_proc_stat(pid); };
    errno = 0;
    auto found = stat();
    if (!found && (errno == EMFILE || errno == ENFILE)) found = spare_.lend(stat);
    const int refused = found ? 0 : errno;
    if (found) sight.start_ticks = found->start_ticks;
    if (sight.pidfd) {
        sight.has_ended = has_exited(sight.pidfd.get());
    } else if (found) {
        sight.has_ended = found->is_dead() && !has_living_thread(pid);
    } else if (kill(pid, 0) != 0 && errno == ESRCH) {
        // Takes no descriptor, and sees also what a /proc with hidepid hides.
        sight.nobody = true;
    } else {
        sight.why_unreadable = std::generic_category().message(refused);
    }
    return sight;
}

Departure ProcTable::how_it_went(const Sight& sight, const ProcessIdentity& process) const {
    return departure_of(sight.pidfd.get(), process);
}

}  // namespace knell
