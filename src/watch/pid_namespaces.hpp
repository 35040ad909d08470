#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/mutex.hpp"

namespace knell {

/// A pid as somebody knows it.  The number alone means nothing: each pid namespace counts anew.
struct NamedPid {
    pid_t pid = 0;
    std::uint64_t pid_namespace = 0;  // the inode of /proc/<pid>/ns/pid
    std::uint64_t start_ticks = 0;    // since boot; 0: not known
};

/// Where a named pid is to be found.
struct Located {
    enum class Kind : std::uint8_t {
        here,       // it has `pid` in our own namespace
        nobody,     // proven: no living process has that name
        cannot_see  // it may live where we cannot look
    };
    Kind kind = Kind::cannot_see;
    pid_t pid = 0;    // of the process, also where a thread was named
    std::string why;  // for the last two
};

/// Translates pids of other namespaces into ours, by what the kernel shows in /proc: `NSpid` lists
/// all names of a process that can be seen from here, `ns/pid` tells which namespace is its own.
///
/// A process is visible in its own namespace and in all that this one is inside of, so nothing
/// outside of ours is.  Any thread.
class PidNamespaces {
  public:
    /// The first pid namespace of a boot has always this inode; it sees every process there is.
    static constexpr std::uint64_t initial_inode = 0xEFFFFFFCU;

    explicit PidNamespaces(std::string proc = "/proc", std::uint64_t initial = initial_inode);

    /// 0: /proc does not tell, or counts for another namespace.
    std::uint64_t own() const { return own_; }
    /// The namespace that a process which has `pid` here lives in; 0 where /proc does not tell.
    std::uint64_t of(pid_t pid) const;
    /// Somebody has proof that this namespace is over; `why` is the evidence.  Holds for processes
    /// that have started by now: later ones may live in another under the same inode.
    void add_ended(std::uint64_t inode, std::string why);
    /// `near`: who named it (a pid here), or 0.  Its own process, its descendants and its ancestors
    /// are looked at before all others.
    Located find(const NamedPid& named, pid_t near) const;

  private:
    enum class Match : std::uint8_t { elsewhere, other, same, unclear };
    Match match(pid_t candidate, const NamedPid& named) const;
    bool has_thread(pid_t candidate, pid_t named) const;
    pid_t find_near(const NamedPid& named, pid_t near) const;
    Located find_anywhere(const NamedPid& named, bool is_seen) const;
    std::vector<pid_t> children_of(pid_t pid) const;
    bool sees_all() const;
    std::optional<Located> find_ended(const NamedPid& named) const;

    // Constant after construction.
    const std::string proc_;
    const std::uint64_t initial_;
    const std::uint64_t own_;
    // Namespaces that nobody lives in.  A container may have had a thousand owners, and its inode
    // may be another one's by now.
    struct Ended {
        std::uint64_t at = 0;  // when that was seen, in ticks since boot
        std::string why;
    };
    mutable Mutex mutex_;
    mutable std::map<std::uint64_t, Ended> ended_ KNELL_GUARDED_BY(mutex_);
};

}  // namespace knell
