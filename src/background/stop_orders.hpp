#pragma once

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "background/tree_stopper.hpp"
#include "watch/stopper.hpp"

namespace knell {

/// All that is being stopped: what commands left behind, and background processes with what belongs
/// to them, be it because somebody asked for that or because their session has ended.
///
/// A step, not a wait, as its parts are.  One thread.
class StopOrders {
  public:
    StopOrders(const ProcessHolder& holder, const ProcessTree& tree, TreeBounds bounds)
        : leftovers_(holder), trees_(holder, tree, std::move(bounds)) {}

    /// Those of its leftovers that are background processes go with all that belongs to them.
    void add(StopOrder order, SteadyTime now);
    void add(TreeRoot root, SteadyTime now) { trees_.add(std::move(root), now); }
    bool is_stopping(const ProcessIdentity& process) const { return trees_.is_stopping(process); }

    struct Done {
        std::vector<StopOrder> orders;  // with the fate of every leftover
        std::vector<TreeStopper::Stopped> trees;
    };
    Done step(SteadyTime now);
    bool is_idle() const { return leftovers_.is_idle() && trees_.is_idle() && waiting_.empty(); }

  private:
    using Key = std::tuple<std::int32_t, std::uint64_t>;
    static Key key_of(const ProcessIdentity& process) { return {process.pid, process.start_ticks}; }
    bool is_complete(const StopOrder& order) const;
    void fill_in(StopOrder& order);

    Stopper leftovers_;
    TreeStopper trees_;
    std::set<Key> wanted_;            // trees that an order waits for
    std::map<Key, Fate> fates_;       // of those that are done
    std::vector<StopOrder> waiting_;  // for trees alone
};

}  // namespace knell
