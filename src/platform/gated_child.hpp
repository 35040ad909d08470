#pragma once

#include <chrono>
#include <expected>
#include <optional>
#include <string_view>

#include <sys/types.h>

#include "platform/child_plan.hpp"
#include "platform/fd.hpp"

namespace knell {

struct GateFailure {
    SpawnFailure what;
    pid_t unreaped = 0;  // killed, but it hangs (in a directory of a dead disk, say); reap it later
};

/// A child that is ready to become a program, and waits until it is let go:
///
///   prepared ─▶ open(): executes its program, or reports why it cannot
///            └▶ the gate closes, also because we die: it leaves without having executed anything
///
/// Forks, so it holds a copy of our memory until then, but none of our descriptors: neither those
/// that others wait to be closed nor the gates of other children.
class GatedChild {
  public:
    /// Forks and prepares it: when this returns nothing is left to fail but the execution of the
    /// program.  After a failure no process is left, unless the failure names one.
    static std::expected<GatedChild, GateFailure> start(ChildSpec spec,
                                                        std::chrono::milliseconds prepare_max);

    /// Whoever has it reaps it.
    pid_t pid() const { return pid_; }
    /// Lets it go, once.
    void open(std::string_view late_value);

    /// Readable once it is known whether the program was executed.
    int report() const { return report_.get(); }
    struct Told {
        bool is_over = false;  // nothing more will be told
        std::optional<SpawnFailure> failure;
    };
    /// What it has told since it was let go; never waits.  Of one that has ended this is final.
    Told look();

  private:
    GatedChild(pid_t pid, Fd gate, Fd report)
        : pid_(pid), gate_(std::move(gate)), report_(std::move(report)) {}

    pid_t pid_;
    Fd gate_;
    Fd report_;
};

}  // namespace knell
