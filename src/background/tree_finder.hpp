#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/background_process.hpp"
#include "watch/live_owners.hpp"
#include "watch/process_tree.hpp"

namespace knell {

/// A background process, as far as it says what belongs to it.
struct TreeRoot {
    ProcessId id;
    SessionId session_id;
    ProcessIdentity process;
    /// Seen below it before: they belong to it wherever they are by now, as long as they are the
    /// same.
    std::vector<ProcessIdentity> seen{};
};

/// A background process of another session.
struct OthersProcess {
    ProcessId id;
    SessionId session_id;
};

/// What the search needs to know of others.  All of it is asked at each search.
struct TreeBounds {
    std::string socket;  // of this daemon
    const LiveOwners& owners;
    /// The background process of another session that it is on record as.
    std::function<std::optional<OthersProcess>(const ProcessIdentity&, const SessionId&)> as_others;
};

/// What belongs to a background process and runs, itself first.  It is
/// - that very process; and what started in the same boot and not before it, is seen in its pid
///   namespace, and
/// - has KNELL_PROCESS_ID of it and KNELL_SOCKET of this daemon in its environment; or
/// - is in the process session that it leads, while its number is still its own; or
/// - was seen below it, and is the same by pid, start, boot and pid namespace; or
/// - descends from one of these.
///
/// Never an owner of an open session, a background process of another session, a knell, what
/// carries the cookie of another session or background process, nor what descends from any of
/// these.  Of the process itself only the first two count: that it runs with the cookie of whoever
/// started it does not make it theirs, and it may be a `knell run`.
///
/// Once the process is gone its mark still finds what it left running.
std::vector<ProcessIdentity> find_tree(const TreeRoot& root, const ProcessTree& tree,
                                       const TreeBounds& bounds);

struct SparedProcess {
    ProcessIdentity process;
    std::string why;  // "it owns an open session"
};
/// What would belong to it and runs, but owns an open session or is on record for another: whoever
/// stops the rest leaves it running, and must say so.
std::vector<SparedProcess> find_spared(const TreeRoot& root, const ProcessTree& tree,
                                       const TreeBounds& bounds);

/// The background processes whose mark something carries that runs, each once: one pass over all.
std::vector<ProcessId> find_marks(const ProcessTree& tree, const std::string& socket);

}  // namespace knell
