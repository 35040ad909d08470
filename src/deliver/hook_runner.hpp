#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include <poll.h>

#include "base/time.hpp"
#include "deliver/hook_process.hpp"
#include "deliver/hook_spec.hpp"
#include "deliver/parcel.hpp"

namespace knell {

/// All attempts of hooks that are under way.  One thread, which waits for the descriptors and the
/// deadline and then calls `step`; nothing here blocks.
///
/// Every attempt that is started has exactly one outcome, unless it is cancelled.
class HookRunner {
  public:
    /// A hook that cannot be started has failed at once: `take_finished` says why.
    void start(AttemptId attempt, const HookSpec& spec, const Parcel& parcel, SteadyTime now);

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

    std::map<AttemptId, std::unique_ptr<HookProcess>> running_;
    std::vector<std::unique_ptr<HookProcess>> dying_;  // killed and not reaped yet
    std::vector<Finished> finished_;
};

}  // namespace knell
