#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "base/bounded_queue.hpp"
#include "engine/command.hpp"
#include "engine/decide.hpp"
#include "engine/state.hpp"
#include "journal/journal.hpp"
#include "store/store.hpp"

namespace knell {

/// The one thread that decides and writes.  While a transaction is on its way to the disk the next
/// commands gather: the slower the disk, the larger the groups.
class Writer {
  public:
    using Done = std::move_only_function<void(Result<Reply>)>;
    struct Answer {
        Done done;
        Result<Reply> reply;
    };
    /// Gets the answers of one group, on the writer's thread, after their commit.
    using Publish = std::function<void(std::vector<Answer>)>;

    Writer(Store& store, Publish publish);
    ~Writer();

    /// Takes the open sessions from the store.  Before `start`.
    Result<void> recover();
    void start();
    /// Commits what is queued, then ends the thread.
    void stop();

    /// False when the queue is full; `done` has not been called then.
    bool submit(Command&& command, Done&& done);

    /// Numbers for people, a moment old at most.
    struct Figures {
        std::atomic<std::size_t> open{0};
        std::atomic<std::size_t> running{0};
        std::atomic<Seq> last_seq{0};
        std::atomic<std::uint64_t> commits{0};
        std::atomic<std::uint64_t> commands{0};
        std::atomic<std::uint64_t> failures{0};
    };
    const Figures& figures() const { return figures_; }
    std::size_t queued() const { return queue_.size(); }

  private:
    struct Submission {
        Command command;
        Done done;
    };

    void loop();
    void commit(std::span<Submission> group);
    void update_figures();

    Store& store_;
    const Publish publish_;
    BoundedQueue<Submission> queue_;
    Figures figures_;

    // Writer thread only (after start).
    State state_;
    Journal journal_;

    std::thread thread_;
};

}  // namespace knell
