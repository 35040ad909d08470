#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/bounded_queue.hpp"
#include "watch/leftover_look.hpp"
#include "watch/live_owners.hpp"
#include "watch/stopper.hpp"

namespace knell {

/// Looks for leftovers and stops them, on a thread of its own: a pass over all processes, or a
/// process whose files cannot be read, holds up nobody who waits for an answer or a death.
class LeftoverThread {
  public:
    using Found = std::move_only_function<void(std::vector<FoundLeftovers>)>;
    using Settled = std::function<void(StopOrder)>;

    /// `settled` is called on this thread.
    LeftoverThread(const ProcessTree& tree, const LiveOwners& owners, Settled settled);
    ~LeftoverThread() { stop(); }

    /// Looks for what these commands left behind; `found` is called on this thread.  False when too
    /// many searches are waiting; `found` is left as it was then.
    bool search(std::vector<LeftoverSearch> searches, Found&& found);
    void stop_leftovers(StopOrder order);
    /// What is under way is dropped: the record still says so, and the next daemon goes on with it.
    void stop();

  private:
    struct Look {
        LeftoverLook look;
        Found found;
    };
    struct Request {
        std::unique_ptr<Look> look;  // or
        StopOrder order;
    };

    void loop();
    void step();

    const ProcessTree& tree_;
    const LiveOwners& owners_;
    const std::unique_ptr<ProcessHolder> holder_;
    const Settled settled_;
    BoundedQueue<Request> queue_;

    // This thread only.
    std::vector<std::unique_ptr<Look>> looks_;
    Stopper stopper_;

    std::thread thread_;
};

}  // namespace knell
