#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "platform/fd.hpp"
#include "platform/proc_stat.hpp"

namespace knell {

/// In the environment of a hook and of all that it starts.
inline constexpr std::string_view hook_run_variable = "KNELL_HOOK_RUN";

/// Names one run of a hook: whose it is and what to look for when its daemon is gone.
struct HookRun {
    std::string node;                 // of the store; a copy of a store has the same
    std::uint64_t pid_namespace = 0;  // in which the pids mean something
    pid_t daemon = 0;
    std::uint64_t daemon_start_ticks = 0;
    std::string hook;
    pid_t group = 0;  // of the hook, and its main process

    bool operator==(const HookRun&) const = default;
};

/// "NODE:NAMESPACE:DAEMON:TICKS:HOOK:" to be followed by the group.
std::string text_before_group(const HookRun& run);
std::optional<HookRun> parse_hook_run(std::string_view text);

/// What a run of `hook` by this process would be called; its group is open.
HookRun run_of_ours(const std::string& node, const std::string& hook);

/// A process of a hook whose daemon is gone.
struct HookOrphan {
    std::string hook;
    pid_t pid = 0;
    Fd pidfd;
};

/// Holds that process, if it is still the one that was seen under that number, in that group.
std::optional<HookOrphan> hold_orphan(pid_t pid, const ProcStat& seen, const std::string& hook);

struct HookOrphans {
    std::vector<HookOrphan> in_group;
    /// They have the cookie and left the group: a server that a hook started, or a job of a shell
    /// with `set -m`.  Not ours to stop, but not to be left unseen.
    std::vector<HookOrphan> away;
};

/// Everything that hooks which an earlier daemon of `node` ran have left behind.
///
/// Proof is the cookie: it names the group, so what has left it is told apart, and a group that has
/// come by the same number is nobody's; and it names the daemon, so that one which lives, on a copy
/// of the store, keeps its hooks.  Who has the cookie and is in that group proves it for all of the
/// group: nobody joins it from another session.
HookOrphans find_hook_orphans(const std::string& node);

}  // namespace knell
