#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "background/stop_orders.hpp"
#include "background/stop_states.hpp"
#include "base/bounded_queue.hpp"
#include "watch/leftover_look.hpp"
#include "watch/live_owners.hpp"
#include "watch/owner_stopper.hpp"

namespace knell {

/// Looks for what commands and background processes left running, and stops what is to be stopped,
/// on a thread of its own: a pass over all processes, or a process whose files cannot be read,
/// holds up nobody who waits for an answer or a death.
class LeftoverThread {
  public:
    using Found = std::move_only_function<void(std::vector<FoundLeftovers>)>;
    /// What a background process has left running, the topmost of each tree.
    using FoundSurvivors = std::move_only_function<void(std::vector<Leftover>)>;
    using FoundMarks = std::move_only_function<void(std::vector<ProcessId>)>;
    /// Called on this thread.
    struct Tell {
        std::function<void(StopOrder)> settled;
        std::function<void(const TreeStopper::Stopped&)> stopped;
    };

    LeftoverThread(const ProcessTree& tree, TreeBounds bounds, Tell tell);
    ~LeftoverThread() { stop(); }

    /// Looks for what these commands left behind; `found` is called on this thread.  False when too
    /// many searches are waiting; `found` is left as it was then.
    bool search(std::vector<LeftoverSearch> searches, Found&& found);
    void stop_leftovers(StopOrder order);
    void stop_tree(TreeRoot root);
    /// Ends the process that keeps a session; `done` is called on this thread.
    void stop_owner(ProcessIdentity process, OwnerStopper::Done done);
    /// Looks for what is left of a background process that has ended, once it is no longer being
    /// stopped and after a moment in which the rest may end too; `found` is called on this thread.
    void find_survivors(TreeRoot root, FoundSurvivors found);
    /// Looks for all background processes of which something runs; `found` is called on this
    /// thread.
    void look_for_marks(FoundMarks found);
    /// From the moment it was asked for: whether it is under way, and what it left.  Any thread.
    StopState stop_state(const ProcessId& id) const { return states_.of(id); }
    /// What is under way is dropped: the record still says so, and the next daemon goes on with it.
    void stop();

  private:
    struct Look {
        LeftoverLook look;
        Found found;
    };
    struct Remains {
        TreeRoot root;
        FoundSurvivors found;
        SteadyTime not_before{};
    };
    struct OwnerStop {
        ProcessIdentity process;
        OwnerStopper::Done done;
    };
    struct Request {
        std::unique_ptr<OwnerStop> owner;  // or
        std::unique_ptr<Look> look;        // or
        std::unique_ptr<Remains> remains;  // or
        std::optional<TreeRoot> root;      // or
        FoundMarks marks;                  // or
        StopOrder order;
    };

    void loop();
    void take(Request&& request);
    void step();
    void look_at_remains(SteadyTime now);

    const ProcessTree& tree_;
    const TreeBounds bounds_;
    const std::unique_ptr<ProcessHolder> holder_;
    const Tell tell_;
    BoundedQueue<Request> queue_;
    StopStates states_;

    // This thread only.
    std::vector<std::unique_ptr<Look>> looks_;
    std::vector<std::unique_ptr<Remains>> remains_;
    SteadyTime next_remains_look_{};
    StopOrders stopping_;
    OwnerStopper owners_;

    std::thread thread_;
};

}  // namespace knell
