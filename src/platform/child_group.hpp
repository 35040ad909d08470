#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include "platform/fd.hpp"
#include "platform/spawn.hpp"

namespace knell {

/// How a child of ours ended.
struct ChildExit {
    enum class How : std::uint8_t {
        exited,
        signaled,
        lost,  // somebody else has reaped it
    };
    How how = How::exited;
    int status = 0;  // what it exited with, or the signal

    bool is_success() const { return how == How::exited && status == 0; }
};
/// "exit 3", "killed by SIGKILL"
std::string to_text(const ChildExit& exit);

/// A child that leads a session, and with it a process group, until it is reaped.  One thread; this
/// process must not ignore SIGCHLD, or nobody learns how a child ended.
///
///   runs ─▶ ended: `look` says how ─▶ reaped
///
/// Its number is that of its group, and its own until it is reaped: until then, and no longer, the
/// group is signalled.  The child is always in the group, as who leads a session cannot leave it.
class ChildGroup {
  public:
    explicit ChildGroup(Spawned leader) : pid_(leader.pid), pidfd_(std::move(leader.pidfd)) {}
    ChildGroup(const ChildGroup&) = delete;
    ChildGroup& operator=(const ChildGroup&) = delete;
    /// Kills what still runs.  That is not waited for: who cares for zombies calls `reap` first.
    ~ChildGroup();

    /// Readable once it has ended; -1 when it is reaped.
    int pidfd() const { return pidfd_.get(); }

    /// How it ended, if it has.  Does not reap it, but for one that somebody else did.
    std::optional<ChildExit> look();
    /// To all of the group.  Nothing, once it is reaped.
    void signal(int signal) const;
    /// True once it is gone for good.  A killed one takes a moment, and one that waits for a dead
    /// disk may take for ever.
    bool reap();

  private:
    pid_t pid_;  // -1 once reaped, as others may have the number then
    Fd pidfd_;
};

}  // namespace knell
