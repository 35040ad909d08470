#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "background/tree_finder.hpp"
#include "base/time.hpp"
#include "core/leftover.hpp"
#include "watch/process_tree.hpp"
#include "watch/stopper.hpp"

namespace knell {

/// Stops background processes with all that belongs to them.  Each goes through
///
///   SIGTERM to all ─▶ after a grace: SIGSTOP to all, until no more are found, SIGKILL to all ─▶
///   done
///
/// and is done early when nothing is found any more.  What belongs to it is looked for again and
/// again, as it may start more meanwhile; what is stopped cannot, so that a storm of forks ends.
///
/// Nothing is signalled that is not held and found to belong to it a moment ago, nor what its
/// ProcessHolder spares; that is asked before each signal.  Nothing stays held: a tree of thousands
/// takes one descriptor.
///
/// A step, not a wait: the caller brings the time, that in which processes can run.  One thread.
class TreeStopper {
  public:
    TreeStopper(const ProcessHolder& holder, const ProcessTree& tree, TreeBounds bounds)
        : holder_(holder), tree_(tree), bounds_(std::move(bounds)) {}

    /// One that is being stopped already is not asked twice.
    void add(TreeRoot root, SteadyTime now);
    struct Stopped {
        TreeRoot root;
        Fate fate = Fate::gone;  // gone, stopped, killed, or left: not all of it could be stopped
        std::string left{};      // what, and why, in words; "" unless its fate is `left`
    };
    /// Those that are done.
    std::vector<Stopped> step(SteadyTime now);
    bool is_idle() const { return jobs_.empty(); }
    bool is_stopping(const ProcessIdentity& process) const;

  private:
    using Key = std::tuple<std::int32_t, std::uint64_t>;
    struct Job {
        TreeRoot root;
        bool is_killing = false;
        SteadyTime until{};  // of the grace
        SteadyTime next_look{};
        std::chrono::nanoseconds delay{0};
        std::set<Key> asked;  // to end
        bool was_killed = false;
        int looks_killing = 0;  // that found some of it though it was killed
        /// Whose signals the system refused for want of permission, and to whom they belong.
        std::map<Key, std::optional<uid_t>> forbidden{};
        std::string left{};
    };
    enum class Sent : std::uint8_t { sent, gone, spared, unreachable, forbidden };

    static Key key_of(const ProcessIdentity& process) { return {process.pid, process.start_ticks}; }
    Sent send(Job& job, const ProcessIdentity& process, std::initializer_list<int> signals) const;
    std::string why_still_there(const Job& job, const std::vector<ProcessIdentity>& found) const;
    std::optional<Fate> advance(Job& job, const ProcessTree& look, SteadyTime now) const;
    /// False when there is nothing that may be signalled.
    bool ask_all(Job& job, const std::vector<ProcessIdentity>& found) const;
    bool kill_all(Job& job) const;
    /// What runs though nothing that may be stopped is found, and why; "" when nothing does.
    std::string left_unfound(const TreeRoot& root, const ProcessTree& look) const;
    std::string why_not_seen(const ProcessIdentity& process) const;

    const ProcessHolder& holder_;
    const ProcessTree& tree_;
    const TreeBounds bounds_;
    std::vector<Job> jobs_;
};

}  // namespace knell
