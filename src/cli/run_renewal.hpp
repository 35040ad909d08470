#pragma once

#include <chrono>
#include <string>

#include <sys/types.h>

#include "core/ids.hpp"

namespace knell::cli {

/// Starts a process that renews the lease of a session every `period`, as long as `command`, a
/// child of ours that was not waited for yet, lives.  It survives restarts of the daemon, and ends
/// by itself when the command does or the session is no longer this generation's.
///
/// A process of its own, in a session of its own: the lease must not run out while `knell run` is
/// stopped together with its command (Ctrl-Z), nor when `knell run` alone is killed.
void renew_while_alive(pid_t command, const std::string& socket, const SessionId& session,
                       Generation generation, std::chrono::milliseconds period);

}  // namespace knell::cli
