#include "watch/process_check.hpp"

#include <cstdint>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/pidfd.hpp"
#include "platform/proc_stat.hpp"
#include "platform/proc_status.hpp"
#include "watch/oom_evidence.hpp"

namespace knell {

namespace {

/// Linux 6.15 tells how a process ended to whoever holds a pidfd; Debian 12's headers do not know
/// of it yet.  The first 64 bytes of the kernel's struct.
struct PidfdRecord {
    std::uint64_t mask;
    std::uint64_t cgroup;
    std::uint32_t pid, tgid, ppid;
    std::uint32_t ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
    std::int32_t exit_code;
};
static_assert(sizeof(PidfdRecord) == 64);
constexpr unsigned long pidfd_get_info = _IOWR(0xFF, 11, PidfdRecord);
constexpr std::uint64_t pidfd_info_exit = 1U << 3U;

std::optional<int> status_from_pidfd(int pidfd) {
    PidfdRecord info{};
    info.mask = pidfd_info_exit;
    if (ioctl(pidfd, pidfd_get_info, &info) != 0) return std::nullopt;
    if ((info.mask & pidfd_info_exit) == 0) return std::nullopt;
    return info.exit_code;
}

/// Not waited for yet: its last words stand in /proc, for those who may read them.
std::optional<int> status_from_zombie(int pidfd, const ProcessIdentity& process) {
    // On record it may have the pid of another namespace.
    auto pid = pid_behind(pidfd);
    if (pid == 0) pid = process.pid;
    struct stat owner{};
    if (stat(fmt::format("/proc/{}", pid).c_str(), &owner) != 0) return std::nullopt;
    // The kernel shows 0 to others, which is not the same as an exit status of 0.
    if (geteuid() != 0 && owner.st_uid != geteuid()) return std::nullopt;
    const auto found = read_proc_stat(pid);
    if (!found || !found->is_dead() || found->start_ticks != process.start_ticks) {
        return std::nullopt;
    }
    return found->exit_status;
}

Finding lost(std::string evidence) {
    return Gone{{.kind = Departure::Kind::lost, .number = 0, .evidence = std::move(evidence)}};
}

}  // namespace

Departure departure_of(int pidfd, const ProcessIdentity& process) {
    Departure departure;
    const auto who = fmt::format("process {} (start ticks {})", process.pid, process.start_ticks);
    std::string_view source = "the kernel's exit record of its pidfd";
    // Without a descriptor the ioctl is refused, and only a zombie can tell.
    auto status = status_from_pidfd(pidfd);
    if (!status) {
        status = status_from_zombie(pidfd, process);
        source = "/proc, before its parent waited for it";
        // Waited for between the two looks: the exit record is there now.
        if (!status) {
            status = status_from_pidfd(pidfd);
            source = "the kernel's exit record of its pidfd";
        }
    }
    if (!status) {
        departure.evidence =
            pidfd < 0 ? who + " ended; nobody could see how"
                      : who + " ended, seen through its pidfd; how it did cannot be read";
        return departure;
    }
    if (WIFSIGNALED(*status)) {
        departure.kind = Departure::Kind::signaled;
        departure.number = WTERMSIG(*status);
    } else {
        departure.kind = Departure::Kind::exited;
        departure.number = WEXITSTATUS(*status);
    }
    departure.evidence =
        fmt::format("{} ended with {}, from {}", who, detail_for(departure), source);
    if (departure.kind == Departure::Kind::signaled && departure.number == SIGKILL) {
        if (auto oom = oom_evidence_for(process)) {
            departure.kind = Departure::Kind::oom_killed;
            departure.evidence += "; " + *oom;
        }
    }
    return departure;
}

Finding look_for(const ProcessIdentity& process, const ProcessTable& table) {
    if (!process.boot_id.empty() && process.boot_id != table.boot_id()) {
        return Gone{{.kind = Departure::Kind::host_restart,
                     .number = 0,
                     .evidence = fmt::format("it ran in boot {}, this is boot {}", process.boot_id,
                                             table.boot_id())}};
    }
    const auto located =
        table.locate({process.pid, process.pid_namespace, process.start_ticks}, /*near=*/0);
    if (located.kind == Located::Kind::cannot_see) return CannotTell{located.why};
    if (located.kind == Located::Kind::nobody) return lost(located.why);
    auto snapshot = table.look_at(located.pid);
    if (snapshot.nobody) {
        return lost(fmt::format("no process {} (start ticks {}) runs any more", process.pid,
                                process.start_ticks));
    }
    if (!snapshot.start_ticks) {
        if (snapshot.has_ended) return lost(fmt::format("process {} is gone", process.pid));
        return CannotTell{fmt::format("/proc tells nothing of process {}: {}", process.pid,
                                      snapshot.why_unreadable)};
    }
    if (*snapshot.start_ticks != process.start_ticks) {
        return lost(
            fmt::format("pid {} now belongs to another process (start ticks {}, ours had {})",
                        process.pid, *snapshot.start_ticks, process.start_ticks));
    }
    if (snapshot.has_ended) {
        return Gone{table.exit_of(snapshot, process)};
    }
    return StillThere{std::move(snapshot.pidfd)};
}

bool is_parents_word(const ProcessIdentity& ended, pid_t teller, const ProcessTable& table) {
    if (ended.boot_id != table.boot_id() || ended.pid_namespace != table.own_pid_namespace()) {
        return false;
    }
    const auto parent = table.parent_of(ended.pid);
    // Asked after the parent: a number that is still the process's own was so before.
    const auto snapshot = table.look_at(ended.pid);
    if (!parent || snapshot.nobody || snapshot.start_ticks != ended.start_ticks) return false;
    if (*parent == teller) return true;
    return table.parent_of(teller) == parent && table.is_knell(teller) && table.is_knell(*parent);
}

bool has_parent_to_tell(const ProcessIdentity& process, const ProcessTable& table) {
    if (process.boot_id != table.boot_id() || process.pid_namespace != table.own_pid_namespace()) {
        return false;
    }
    const auto parent = table.parent_of(process.pid);
    // Asked after the parent: a number that is still the process's own was so before.
    const auto snapshot = table.look_at(process.pid);
    if (!parent || snapshot.nobody || snapshot.start_ticks != process.start_ticks) return false;
    // The first process of all waits for everybody's orphans, and has nothing to say of them.
    return *parent > 1;
}

bool is_unwaited_for(const ProcessIdentity& process, const ProcessTable& table) {
    if (process.pid_namespace != table.own_pid_namespace()) return false;
    const auto stat = read_proc_stat(process.pid);
    return stat && stat->is_dead() && stat->start_ticks == process.start_ticks;
}

bool has_never_executed(const ProcessIdentity& process, const ProcessTable& table) {
    if (!is_unwaited_for(process, table)) return false;
    const auto stat = read_proc_stat(process.pid);
    return stat && stat->start_ticks == process.start_ticks && stat->is_forked_copy;
}

}  // namespace knell
