#pragma once

#include <optional>
#include <span>

#include <sys/types.h>

namespace knell::cli {

/// A process above this one.
struct Ancestor {
    pid_t pid = 0;
    pid_t group = 0;
    pid_t session = 0;
    bool is_subshell = false;  // forked by its parent, and still the same program
};

/// The owner of a session that a short-lived call opens for whoever made it: the nearest ancestor
/// that leads a process group or a session and is not a subshell.  `$(knell rpc ...)` and
/// `knell rpc ... | jq` run in subshells that end at once; under job control the first process of a
/// pipeline leads a group, too.  What was left behind by its session's leader is the last of its
/// session and stands for itself, rather than whoever adopted it.
///
/// Pure.  The nearest first; `own_session` is of the caller.  Nothing: only init is left, which
/// adopted the caller.
std::optional<pid_t> choose_owner(std::span<const Ancestor> ancestors, pid_t own_session);

/// The same for this process, as /proc shows its ancestors.
std::optional<pid_t> default_owner();

}  // namespace knell::cli
