#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/ids.hpp"
#include "core/leftover.hpp"
#include "core/owner.hpp"
#include "watch/live_owners.hpp"
#include "watch/process_tree.hpp"

namespace knell {

/// Whose leftovers to look for.
struct LeftoverSearch {
    SessionId session_id;
    Generation generation = 0;
    std::string socket;       // of this daemon
    ProcessIdentity command;  // which has ended
    /// The `knell run` that orphans of the command are handed to, and that has no other children.
    std::optional<ProcessIdentity> reaper;
    bool by_cookie_only = false;  // other commands share the owner: nothing else tells them apart
};

/// What a command started and left behind.  A process is one of these when it started in the same
/// boot and not before the command, is seen in the pid namespace of the command, and
/// - its environment holds KNELL_SESSION_ID and KNELL_GENERATION of this session and KNELL_SOCKET
///   of this daemon (children, nohup, setsid: all inherit them unless they scrub them); or
/// - it descends from `reaper`, which is still there; or
/// - it is in the process group or session that the command led, while the pid is still the
///   command's own: a number that is free by now may have been somebody else's meanwhile; or
/// - its parent is one of these.
///
/// These are nobody's leftovers: owners of open sessions and what descends from them, what carries
/// the cookie of another session or of a background process (KNELL_PROCESS_ID: those are on record)
/// and what descends from it, knell daemons and other `knell run`s
/// with all below them.  And these are `shared`,
/// to be named and never stopped: ancestors of such; and what daemonised (it is not in the
/// command's terminal session) and serves others, with everything below it and all that daemonised
/// after it.  A unix socket that it
/// listens on, or a TCP client from outside, says that it does, and so do sockets that cannot be
/// read: a tmux server may hold windows that have nothing to do with the session, and nothing about
/// them would show it.
///
/// While the reaper is there its tree is walked; otherwise it takes one pass over all processes.
std::vector<Leftover> find_leftovers(const LeftoverSearch& search, const ProcessTree& tree,
                                     const LiveOwners& owners);

/// A command line as /proc gives it, as a line for people.
std::string readable_command(std::string text);

/// Whether this very process still runs.
bool is_running(const ProcessIdentity& process, const ProcessTree& tree);

}  // namespace knell
