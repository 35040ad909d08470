#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "activity/activity_rules.hpp"
#include "activity/sample.hpp"
#include "base/time.hpp"
#include "core/background_process.hpp"

namespace knell {

/// Says from looks at one process tree over time what it is doing:
///
///   working ──(nothing reached a threshold for `quiet`)──▶ listening | waiting
///   listening, waiting ──(something reaches a threshold, or it cannot be seen)──▶ working
///   listening ◀──(it begins or ceases to listen)──▶ waiting
///
/// Pure.  How long something lasts is counted on now.steady; now.wall is only shown.  A host that
/// was asleep does not make its processes idle, whether that clock goes on meanwhile or not.
class Classifier {
  public:
    /// `last`: what it was said to be doing before; one that was idle remains so until it is seen
    /// to work.
    Classifier(const ActivityRules& rules, ActivityFacts last);

    /// Counts from the next look on.
    void set_stale_after(std::chrono::seconds time) { rules_.stale_after = time; }
    /// Of one that is not gone.
    void look(const TreeSample& sample, Now now);

    /// As of the last look.
    const ActivityFacts& facts() const { return facts_; }
    bool is_idle() const { return facts_.activity != ProcessActivity::working; }
    /// Has not worked for `stale_after`.
    bool is_stale() const { return is_stale_; }
    /// The last look found it doing nothing at all, as the one before did.
    bool is_still() const { return is_still_; }

  private:
    /// Of some time: what the tree did in it.
    struct Deeds {
        std::chrono::milliseconds cpu{0};
        std::uint64_t io_bytes = 0;
        std::uint64_t traffic_bytes = 0;
        std::uint64_t connections = 0;  // accepted ones that were not there before
        std::uint64_t new_processes = 0;
        std::uint64_t restless_looks = 0;
        std::chrono::nanoseconds time{0};  // in which it did that

        Deeds& operator+=(const Deeds& more);
    };
    static Deeds between(const TreeSample& before, const TreeSample& after);

    void begin(Now now);
    void cannot_see(const TreeSample& sample, Now now);
    Deeds take(const TreeSample& sample, SteadyTime now);
    void note(const Deeds& deeds, SteadyTime now);
    Deeds last_minute() const;
    bool is_work(const Deeds& minute) const;
    bool is_little(const Deeds& deeds) const;
    void settle(const TreeSample& sample, const Deeds& deeds, Now now);
    void set_class(ProcessActivity activity, WallTime since);

    std::string work_evidence(const TreeSample& sample, const Deeds& minute, SteadyTime now) const;
    std::string idle_evidence(const TreeSample& sample, Now now) const;
    std::string socket_evidence(const TreeSockets& sockets, WallTime now) const;

    ActivityRules rules_;
    ActivityFacts facts_;
    bool is_stale_ = false;
    bool is_still_ = false;

    std::optional<TreeSample> last_;  // none: not seen yet, or not at the last look
    SteadyTime last_at_{};
    std::uint32_t restless_ = 0;  // looks in a row

    // What it did lately, in slices of `quiet` and one that is not full yet.
    static constexpr std::int64_t slices_in_quiet = 6;
    std::array<Deeds, slices_in_quiet + 1> slices_{};
    std::int64_t slice_ = 0;  // the number of the newest, counted from the clock's beginning

    struct Moment {
        SteadyTime steady;
        WallTime wall;
    };
    bool has_begun_ = false;
    Moment began_;                           // to be looked at
    Moment seen_since_;                      // without a look that could not see it, or a gap
    Moment idle_since_;                      // of one that is idle
    std::chrono::milliseconds idle_cpu_{0};  // since then
    std::optional<WallTime> connected_;      // when a connection was last seen to come or be used
};

}  // namespace knell
