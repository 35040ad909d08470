#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "background/children.hpp"
#include "background/launcher.hpp"
#include "background/output_files.hpp"
#include "base/bounded_queue.hpp"
#include "watch/process_table.hpp"

namespace knell {

/// Makes processes that wait at their gates, one after the other, on a thread of its own: a program
/// on a slow disk holds up other starts, and nothing else.
class LaunchThread {
  public:
    using Done = std::move_only_function<void(Result<ProcessIdentity>)>;
    static constexpr std::size_t queued_max = 256;

    LaunchThread(OutputFiles& outputs, const ProcessTable& table, Children& children);
    ~LaunchThread() { stop(); }

    /// `order.environment` comes behind that of every program we start.  `done` is called on this
    /// thread: with who it is, when it waits among the children.  Too many that wait: `limit`, at
    /// once.
    void launch(LaunchOrder order, Done done);
    /// What waits to be launched is not.
    void stop();

  private:
    struct Request {
        LaunchOrder order;
        Done done;
    };

    void loop();
    Result<ProcessIdentity> make(LaunchOrder order);

    OutputFiles& outputs_;
    const ProcessTable& table_;
    Children& children_;
    BoundedQueue<Request> queue_;
    std::thread thread_;
};

}  // namespace knell
