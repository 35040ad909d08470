#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>

#include "base/time.hpp"
#include "deliver/hook/process.hpp"
#include "deliver/hook/run.hpp"
#include "deliver/hook/spec.hpp"
#include "deliver/rendered_event.hpp"

namespace knell {

/// All attempts of hooks that are under way.  One thread, which waits for the descriptors and the
/// deadline and then calls `step`; nothing here blocks.
///
/// Every attempt that is started has exactly one outcome, unless it is cancelled.
class HookRunner {
  public:
    /// `node`: whose hooks they are.
    explicit HookRunner(std::string node = {}) : node_(std::move(node)) {}

    using HookAndPid = std::pair<std::string, pid_t>;
    struct Orphans {
        std::vector<HookAndPid> stopped;
        std::vector<HookAndPid> left_alone;
    };
    /// Kills what hooks of an earlier daemon of this node left running, except what has left its
    /// hook's group.  Before the first `start`; waits a moment for them to be gone.  What does not
    /// go, because it waits for a dead disk, keeps its hook from being started.  Gives them for the
    /// log.
    Orphans stop_orphans();

    /// A hook that cannot be started has failed at once: `take_finished` says why.
    void start(AttemptId attempt, const HookSpec& spec, const RenderedEvent& rendered,
               SteadyTime now);

    /// What to poll for: pidfds and output pipes.
    void add_descriptors(std::vector<pollfd>& out) const;
    /// When to call `step` though none of them is ready.
    std::optional<SteadyTime> next_deadline() const;

    /// Reads output, reaps, and ends what is past its time.
    void step(SteadyTime now);

    /// Since the last call.
    std::vector<Finished> take_finished();

    /// The hook was removed, or the daemon stops: kills all of its group.  No outcome follows, not
    /// even one that has not been taken yet.
    void cancel(AttemptId attempt);
    void cancel_all();

    /// Attempts without an outcome so far.
    std::size_t running() const { return running_.size(); }

  private:
    /// Those with something to do.  One question to the kernel about all, so that one busy hook
    /// does not make the many quiet ones cost two each.
    std::set<AttemptId> due(SteadyTime now) const;
    void retire(std::unique_ptr<HookProcess> process);
    /// An earlier run of the hook that is killed and not gone; nullptr when there is none.
    const HookOrphan* earlier_run(const std::string& hook);

    const std::string node_;
    std::vector<HookOrphan> orphans_;  // killed and not gone yet
    std::map<AttemptId, std::unique_ptr<HookProcess>> running_;
    std::vector<std::unique_ptr<HookProcess>> dying_;  // killed and not reaped yet
    std::vector<Finished> finished_;
};

}  // namespace knell
