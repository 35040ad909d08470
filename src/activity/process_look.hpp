#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "activity/sample.hpp"
#include "base/time.hpp"
#include "platform/fd.hpp"
#include "platform/proc_stat.hpp"

namespace knell {

/// The children of a process as they were last read.
struct KnownChildren {
    std::vector<pid_t> pids;
    SteadyTime read_at{};
    std::uint64_t cpu_ticks = 0;  // of the parent, then
};

/// One process of a tree, through its folder in /proc: all that is read is about the same process,
/// even when its pid is given to another meanwhile.
class MemberLook {
  public:
    /// Nothing when it is not there or may not be seen; errno says which.
    static std::optional<MemberLook> open(const std::string& proc, pid_t pid);

    const ProcStat& stat() const { return stat_; }
    /// Still: what could not be read may be unreadable because it has just ended.
    bool is_there() const;
    TreeMember member() const { return {.pid = pid_, .start_ticks = stat_.start_ticks}; }

    /// Bytes read and written, also by children that were waited for.  Nothing when they may not
    /// be read; errno says why.
    std::optional<std::uint64_t> io_bytes() const;
    /// Reads what may have changed.  False when the kernel does not tell.
    bool read_children(KnownChildren& known, SteadyTime now) const;
    /// The inodes of its sockets are added.  False when they may not be listed; errno says why.
    bool list_sockets(std::vector<std::uint64_t>& inodes) const;
    /// The terminal at which it waits for input; "" when it does not.
    std::string waits_at() const;
    /// The network namespace; 0: cannot be told.
    std::uint64_t network() const;

  private:
    MemberLook(pid_t pid, Fd&& folder, const ProcStat& stat)
        : pid_(pid), folder_(std::move(folder)), stat_(stat) {}
    bool add_children_of(pid_t thread, std::vector<pid_t>& pids) const;

    pid_t pid_;
    Fd folder_;
    ProcStat stat_;
};

/// The device number of a terminal as its path; "" for one that has none that is known.
std::string terminal_path(int device);

/// Whether who sleeps in this function of the kernel may wait for what somebody types.  `wchan`:
/// "0" or "" where it is not told.
bool may_read_terminal(std::string_view wchan);

}  // namespace knell
