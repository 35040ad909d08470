#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "platform/fd.hpp"
#include "platform/proc_stat.hpp"

namespace knell {

/// Names one run of a program that a daemon started and that must not outlive it, such as a hook:
/// whose it is and what to look for when its daemon is gone.  It is the value of a variable in the
/// environment of the program and of all that this starts; each kind of program has its own.
struct MarkedRun {
    std::string node;                 // of the store; a copy of a store has the same
    std::uint64_t pid_namespace = 0;  // in which the pids mean something
    pid_t daemon = 0;
    std::uint64_t daemon_start_ticks = 0;
    std::string name;  // of the program, among those of its kind; without a colon
    pid_t group = 0;   // of the program, and its main process

    bool operator==(const MarkedRun&) const = default;
};

/// "NODE:NAMESPACE:DAEMON:TICKS:NAME:" to be followed by the group.
std::string text_before_group(const MarkedRun& run);
std::optional<MarkedRun> parse_marked_run(std::string_view text);

/// What a run of `name` by this process would be called; its group is open.  Not to be used without
/// `daemon_start_ticks`, which are 0 when they cannot be read: another daemon would take what it
/// marks for an orphan.
MarkedRun run_of_ours(const std::string& node, const std::string& name);

/// A process of a run whose daemon is gone.
struct MarkedOrphan {
    std::string name;
    pid_t pid = 0;
    Fd pidfd;
};

/// Holds that process, if it is still the one that was seen under that number, in that group.
std::optional<MarkedOrphan> hold_orphan(pid_t pid, const ProcStat& seen, const std::string& name);

struct MarkedOrphans {
    std::vector<MarkedOrphan> in_group;
    /// They have the mark and left the group: a server that a hook started, or a job of a shell
    /// with `set -m`.  Not ours to stop, but not to be left unseen.
    std::vector<MarkedOrphan> away;
};

/// Everything that programs which an earlier daemon of `node` marked in this variable have left
/// behind.
///
/// Proof is the mark: it names the group, so what has left it is told apart, and a group that has
/// come by the same number is nobody's; and it names the daemon, so that one which lives, on a copy
/// of the store, keeps its programs.  Who has the mark and is in that group proves it for all of
/// the group: nobody joins it from another session.
MarkedOrphans find_marked_orphans(std::string_view variable, const std::string& node);

struct StoppedOrphans {
    using NameAndPid = std::pair<std::string, pid_t>;
    std::vector<NameAndPid> stopped;
    std::vector<NameAndPid> left_alone;
    std::vector<MarkedOrphan> not_gone;  // killed, and waits for a dead disk
};
/// Kills those in their groups, and waits a moment for them to be gone.
StoppedOrphans stop_marked_orphans(std::string_view variable, const std::string& node);
bool is_gone(const MarkedOrphan& orphan);

}  // namespace knell
