#pragma once

#include <expected>

#include <sys/types.h>

#include "platform/child_plan.hpp"
#include "platform/fd.hpp"

namespace knell {

/// A child that runs.  Whoever has it reaps it.
struct Spawned {
    pid_t pid;
    Fd pidfd;
};

/// Starts it, and knows when it returns that the program was executed.  After a failure no process
/// is left.  Its signals are the default ones, whatever ours are.
///
/// Shares memory with the child until then and never copies it: a daemon with a million sessions
/// has page tables that take long to copy.
std::expected<Spawned, SpawnFailure> spawn(ChildSpec spec);

}  // namespace knell
