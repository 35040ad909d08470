#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "base/bounded_queue.hpp"
#include "engine/awake_clock.hpp"
#include "engine/command.hpp"
#include "engine/decide.hpp"
#include "engine/state.hpp"
#include "journal/journal.hpp"
#include "store/store.hpp"
#include "watch/process_table.hpp"

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
    /// Both are called on the writer's thread, after the commit.
    using Publish = std::function<void(std::vector<Answer>)>;
    using CarryOut = std::function<void(Effect&&)>;

    Writer(Store& store, Publish publish, CarryOut carry_out);
    ~Writer();

    /// Takes the open sessions from the store and looks at each of their owners: adopted, ended or
    /// marked unknown before anybody can ask.  Before `start`.
    Result<void> recover(const ProcessTable& processes);
    void start();
    /// Commits what is queued, then ends the thread.
    void stop();

    /// False when the queue is full; `done` has not been called then.
    bool submit(Command&& command, Done&& done);
    /// An observer's word; bounded by the number of owners, so never refused.
    void observe(Command&& command);

    /// Numbers for people, a moment old at most.
    struct Figures {
        std::array<std::atomic<std::size_t>, status_names.size()> by_status{};
        std::atomic<std::size_t> open{0};
        std::atomic<std::size_t> leases{0};
        std::atomic<Seq> last_seq{0};
        std::atomic<std::uint64_t> commits{0};
        std::atomic<std::uint64_t> commands{0};
        std::atomic<std::uint64_t> failures{0};
        std::atomic<std::uint64_t> heartbeats{0};
        std::atomic<std::uint64_t> reaps{0};
        std::atomic<std::int64_t> reap_lateness_last_ms{0};
        std::atomic<std::int64_t> reap_lateness_max_ms{0};
    };
    const Figures& figures() const { return figures_; }
    std::size_t queued() const { return queue_.size(); }

  private:
    struct Submission {
        Command command;
        Done done;  // may be empty: an observer does not wait
    };

    void loop();
    void commit(std::span<Submission> group);
    std::optional<std::chrono::milliseconds> patience() const;
    Now read_now();
    void update_figures();

    Store& store_;
    const Publish publish_;
    const CarryOut carry_out_;
    BoundedQueue<Submission> queue_;
    Figures figures_;

    // Writer thread only (after start).
    AwakeClock clock_;
    State state_;
    Journal journal_;
    bool failed_ = false;
    /// Observers say a thing once: what the store refused is said again in the next step.
    std::vector<Submission> unheard_;
    std::vector<Effect> first_effects_;  // of the recovery, carried out once the thread runs

    std::thread thread_;
};

}  // namespace knell
