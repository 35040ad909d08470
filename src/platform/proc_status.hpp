#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace knell {

/// What /proc/<pid>/status tells of the names of a thread.
struct ProcStatus {
    pid_t process = 0;        // Tgid: the process it belongs to; its own pid for the first thread
    std::vector<pid_t> pids;  // NSpid: in the namespace of /proc, then in each one further inside
    std::optional<uid_t> uid{};  // Uid: the real one, on whose behalf it runs
};

/// Nothing when there is no such thread, or it may not be read.
std::optional<ProcStatus> read_proc_status(pid_t pid, const std::string& proc = "/proc");

/// The parsing alone.  A kernel that does not tell NSpid leaves `pids` empty.
std::optional<ProcStatus> parse_proc_status(std::string_view status);

/// The threads of a process, the dead first one of a living process included.
std::vector<pid_t> threads_of(pid_t pid, const std::string& proc = "/proc");

/// A process whose first thread has ended looks like a zombie as long as others of it run.
bool has_living_thread(pid_t pid, const std::string& proc = "/proc");

/// The inode of the pid namespace that this process counts in; 0 where /proc does not tell.
std::uint64_t own_pid_namespace();

/// False where /proc was mounted for another pid namespace (`unshare --pid` without
/// `--mount-proc`): its numbers are not ours, and reading them as ours names strangers.
bool proc_counts_as_we_do();

/// The number under which /proc knows one of our pids; 0 where it does not.
pid_t pid_in_proc(pid_t pid);

/// The number under which /proc knows the process behind a pidfd; 0 once it was waited for.
pid_t pid_behind(int pidfd);

}  // namespace knell
