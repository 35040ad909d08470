#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>

#include "base/time.hpp"
#include "core/error.hpp"
#include "deliver/hook/output.hpp"
#include "deliver/hook/spec.hpp"
#include "deliver/rendered_event.hpp"
#include "platform/child_group.hpp"
#include "platform/fd.hpp"

namespace knell {

/// In the environment of a hook and of all that it starts: see platform/marked_run.hpp.
inline constexpr std::string_view hook_run_variable = "KNELL_HOOK_RUN";

/// One hook at work on one event: its process group, what it prints, how it ends.  Nothing here
/// waits.  One thread; what still runs is killed with this (platform/child_group.hpp).
///
/// It has an outcome when its main process ends, whoever else holds its output open, or at the
/// latest two seconds after its time is over.  What is left of its group then is killed.
class HookProcess {
  public:
    /// `node` is put into its environment, so that the next daemon can tell what this one left.
    /// `limit`: the system is short of what a process takes (platform/shortage.hpp); nothing is
    /// said of the hook by that.
    static Result<std::unique_ptr<HookProcess>> start(const HookSpec& spec,
                                                      const RenderedEvent& rendered,
                                                      const std::string& node, SteadyTime now);

    /// Readable when there is a reason for `step` or `reap`.
    void add_descriptors(std::vector<pollfd>& out) const;
    /// When there is a reason for `step` though no descriptor says so.
    std::optional<SteadyTime> next_deadline() const { return next_deadline_; }

    /// Reads a bounded amount of output, and says how it went once that is known.
    std::optional<Outcome> step(SteadyTime now);

    /// Kills the whole group; no outcome will follow.
    void kill();

    /// After an outcome or `kill`: true once the process is gone for good.  A killed one takes a
    /// moment, and one that waits for a dead disk may take for ever.
    bool reap() { return group_.reap(); }

  private:
    HookProcess(Spawned started, Fd output, std::chrono::seconds timeout, SteadyTime now);

    void read_some_output();
    std::optional<Outcome> outcome_of_exit();
    std::optional<Outcome> enforce_deadline(SteadyTime now);
    Outcome finish(Outcome::Kind kind, std::string what);
    Outcome finish_overdue();

    ChildGroup group_;
    Fd output_fd_;  // closed at the end of the output
    const std::chrono::seconds timeout_;
    std::optional<SteadyTime> next_deadline_;  // to ask it to end, then to kill it
    bool asked_to_end_ = false;
    HookOutput output_;
};

}  // namespace knell
