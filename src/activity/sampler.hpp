#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "activity/activity_rules.hpp"
#include "activity/classifier.hpp"
#include "activity/sample_source.hpp"
#include "base/mutex.hpp"
#include "base/time.hpp"
#include "core/background_process.hpp"

namespace knell {

/// Looks at background processes in turn and says what each is doing.
///
/// Young and busy ones are looked at every `busy_every`; one that stays idle ever more seldom, up
/// to `idle_every`.  However many there are, a second holds a bounded number of looks: then each
/// has to wait longer for its turn.
///
/// `step` on one thread, all else on any.  Time is handed in.
class ActivitySampler {
  public:
    static constexpr std::chrono::seconds busy_every{2};
    static constexpr std::chrono::seconds idle_every{30};
    /// Processes that one step looks at, give or take a tree; the next one is `step_every` later.
    /// Together they bound the cost: 300 processes a second, of 20 to 50 µs each.
    static constexpr std::size_t step_looks_max = 30;
    static constexpr std::chrono::milliseconds step_every{100};

    explicit ActivitySampler(SampleSource& source, const ActivityRules& rules = {})
        : source_(source), rules_(rules) {}

    /// `last`: what is on record.  `stale`: and that it was said to be stale.  Added again, it
    /// begins anew.
    void add(const ProcessId& id, const ProcessIdentity& process, ActivityFacts last,
             bool stale = false);
    void remove(const ProcessId& id);
    /// Counts for each from its next look on.
    void set_stale_after(std::chrono::seconds time);

    struct Finding {
        ProcessId id;
        ActivityFacts facts;
        bool stale = false;
        bool changed = false;  // another class than before, not only its staleness
    };
    /// Looks at those whose turn it is; at nobody within `step_every` of the last looks.  Gives
    /// those whose class or staleness is another than before; nothing about one that is gone, which
    /// is told by whoever watches it.
    std::vector<Finding> step(Now now);
    /// On now.steady; nothing while there is nobody to look at.  A new one is to be looked at at
    /// once.
    std::optional<SteadyTime> next_step() const;

    /// With its evidence as of the last look; nothing when it is not known here.
    std::optional<ActivityFacts> facts(const ProcessId& id) const;
    /// Who was in its tree at the last look that could see it, and who had left that by then and
    /// still ran.
    std::vector<TreeMember> members(const ProcessId& id) const;

  private:
    struct Entry {
        ProcessIdentity process;
        Classifier classifier;
        std::vector<TreeMember> members{};
        bool was_stale = false;
        std::uint64_t number = 0;  // tells it from one that was added under its id before
        SteadyTime next_look{};
        std::chrono::nanoseconds every = busy_every;
    };
    struct Due {
        ProcessId id;
        std::uint64_t number = 0;
        ProcessIdentity process;
    };

    bool is_too_soon(SteadyTime now) const;
    std::optional<Due> take_due(SteadyTime now);
    std::optional<Finding> apply(const Due& due, const TreeSample& sample, Now now);
    void schedule(const ProcessId& id, Entry& entry, SteadyTime when) KNELL_REQUIRES(mutex_);
    static std::chrono::nanoseconds next_wait(Entry& entry, const TreeSample& sample);
    void forget_removed();

    SampleSource& source_;
    mutable Mutex mutex_;
    ActivityRules rules_ KNELL_GUARDED_BY(mutex_);
    std::map<ProcessId, Entry> entries_ KNELL_GUARDED_BY(mutex_);
    std::set<std::pair<SteadyTime, ProcessId>> turns_ KNELL_GUARDED_BY(mutex_);
    std::vector<ProcessIdentity> removed_ KNELL_GUARDED_BY(mutex_);
    SteadyTime not_before_ KNELL_GUARDED_BY(mutex_){};  // the next step
    std::uint64_t next_number_ KNELL_GUARDED_BY(mutex_) = 1;
};

}  // namespace knell
