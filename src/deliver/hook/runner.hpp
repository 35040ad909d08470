#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
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
#include "deliver/hook/spec.hpp"
#include "deliver/rendered_event.hpp"
#include "platform/marked_run.hpp"

namespace knell {

/// All attempts of hooks that are under way.  One thread, which waits for the descriptors and the
/// deadline and then calls `step`; nothing here blocks.
///
/// Every attempt that is started has exactly one outcome, unless it is cancelled.  One is in one of
/// these states:
///
///   waiting   for another to end, or for the system to have what a process takes
///   running   its hook was started
///   finished  until it is taken
///
///   start  ─▶ running; waiting, where there is no room; finished, where the hook is at fault
///   step   waiting ─▶ running or finished; running ─▶ finished
class HookRunner {
  public:
    /// `node`: whose hooks they are.  No more than `running_max` are run at once.
    explicit HookRunner(std::string node = {},
                        std::size_t running_max = std::numeric_limits<std::size_t>::max())
        : node_(std::move(node)), running_max_(running_max) {}

    /// Kills what hooks of an earlier daemon of this node left running, except what has left its
    /// hook's group.  Before the first `start`; waits a moment for them to be gone.  What does not
    /// go, because it waits for a dead disk, keeps its hook from being started.  Gives the others
    /// for the log.
    StoppedOrphans stop_orphans();

    enum class IfShort : std::uint8_t {
        wait,  // until it can be started: that is no failure of the hook's
        fail,  // somebody waits for an answer
    };
    /// A hook that cannot be started has failed at once: `take_finished` says why.
    void start(AttemptId attempt, const HookSpec& spec, RenderedEventRef rendered, SteadyTime now,
               IfShort if_short = IfShort::wait);

    /// What the system is short of while attempts wait for it; "" while it is not.
    const std::string& shortage() const { return shortage_; }

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

    std::size_t running() const { return running_.size(); }
    std::size_t waiting() const { return waiting_.size(); }

  private:
    struct Waiting {
        AttemptId attempt = 0;
        HookSpec spec;
        RenderedEventRef rendered;
    };

    /// Starts those that wait, as far as there is room.
    void start_waiting(SteadyTime now);
    /// False: the system is short of something, and `shortage_` says of what.
    bool try_start(const Waiting& one, SteadyTime now);
    /// Of the hook that has the fewest running, the one that waits longest: one hook that hangs
    /// does not take all the room there is.
    std::vector<Waiting>::iterator next_waiting();
    std::size_t running_of(const std::string& hook) const;
    /// Those with something to do.  One question to the kernel about all, so that one busy hook
    /// does not make the many quiet ones cost two each.
    std::set<AttemptId> due(SteadyTime now) const;
    void retire(std::unique_ptr<HookProcess> process);
    /// An earlier run of the hook that is killed and not gone; nullptr when there is none.
    const MarkedOrphan* earlier_run(const std::string& hook);

    const std::string node_;
    std::vector<MarkedOrphan> orphans_;  // killed and not gone yet
    const std::size_t running_max_;
    struct Running {
        std::string hook;
        std::unique_ptr<HookProcess> process;
    };
    std::map<AttemptId, Running> running_;
    std::vector<std::unique_ptr<HookProcess>> dying_;  // killed and not reaped yet
    std::vector<Waiting> waiting_;                     // longest first
    std::string shortage_;
    SteadyTime start_again_at_{};  // while there is a shortage
    std::vector<Finished> finished_;
};

}  // namespace knell
