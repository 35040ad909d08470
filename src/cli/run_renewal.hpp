#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <sys/types.h>

#include "base/time.hpp"
#include "cli/run_session.hpp"

namespace knell::cli {

/// Renews the lease that stands for a command which the daemon cannot see, as long as the command,
/// a child of ours that was not waited for yet, lives.
///
/// A process does that, in a session of its own: the lease must not run out while `knell run` is
/// stopped together with its command (Ctrl-Z), nor when `knell run` alone is killed.  It survives
/// restarts of the daemon, and ends by itself when the command does or the session is over.
///
///   waiting -> renewing        a process is forked
///   renewing -> waiting        it died (somebody killed it): the next one starts at once, or after
///                              `again_after` if it did not live that long
///   renewing -> reopening      it was told that the session has ended
///   reopening -> waiting       the session was reaped while all of us stood still: open again
///   any -> over                the command has ended, or the session is somebody else's
///
/// Where `knell run` was killed, that process opens a reaped session again itself.
class LeaseRenewal {
  public:
    /// `session` and `socket` outlive this.
    LeaseRenewal(RunSession& session, const std::string& socket, pid_t command)
        : session_(session), socket_(socket), command_(command) {}

    /// Does what is to be done now.  To be called at first, whenever a child may have ended, and
    /// after the time that it gives, if any.
    std::optional<std::chrono::milliseconds> tend();
    /// The process that renews; 0: none does.
    pid_t process() const { return state_ == State::renewing ? pid_ : 0; }

  private:
    enum class State : std::uint8_t { waiting, renewing, reopening, over };

    void look();
    void start(SteadyTime now);
    void reopen(SteadyTime now);

    RunSession& session_;
    const std::string& socket_;
    const pid_t command_;
    State state_ = State::waiting;
    pid_t pid_ = -1;        // while renewing
    bool is_first_ = true;  // the lease was given just now
    bool died_soon_ = false;
    SteadyTime started_at_;  // the last one
    SteadyTime due_;         // while waiting or reopening: not before
};

}  // namespace knell::cli
