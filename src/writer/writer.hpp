#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/bounded_queue.hpp"
#include "base/mutex.hpp"
#include "config/config_holder.hpp"
#include "core/guard.hpp"
#include "engine/input.hpp"
#include "store/store.hpp"
#include "watch/process_table.hpp"
#include "writer/write_step.hpp"

namespace knell {

/// The one thread that decides and writes: a WriteStep with a queue, a log and figures.  While a
/// transaction is on its way to the disk the next commands gather: the slower the disk, the larger
/// the groups.
class Writer {
  public:
    using Done = std::move_only_function<void(Result<Reply>)>;
    struct Answer {
        Done done;
        Result<Reply> reply;
    };
    /// Both are called on the writer's thread, after the commit.
    using Publish = std::function<void(std::vector<Answer>, std::vector<Event>)>;
    using CarryOut = std::function<void(Effect&&)>;
    /// Until when the watch vouches for the owners whose end it has not told.
    using WatchedUntil = std::function<SteadyTime()>;

    /// The config says how much of the log is kept.
    Writer(Store& store, const ConfigHolder& config, Publish publish, CarryOut carry_out,
           WatchedUntil watched_until);
    ~Writer();

    /// See WriteStep.  Before `start`.
    Result<void> recover(const ProcessTable& processes, LeftoverFinder& leftovers,
                         SpoolAtStart& spool);
    /// The newest event before the announcement.
    Seq head_at_start() const { return write_step_.head_at_start(); }
    void start();
    /// Ends what this daemon hosted itself, and announces that it goes; `why` is such as "on
    /// request".  Waits until that is durable.
    void announce_shutdown(const ProcessIdentity& self, std::string_view why);
    /// Commits what is queued, then ends the thread.
    void stop();

    /// False when the queue is full; `done` has not been called then.
    bool submit(Input&& input, Done&& done);
    /// As `submit`, for other threads of the daemon: never refused, and `done` is called on the
    /// writer's thread.
    void submit_direct(Input&& input, Done&& done);
    /// An observer's word; bounded by the number of owners, so never refused.
    void observe(Observation&& observation);

    /// Numbers for people, a moment old at most.
    struct Figures {
        std::array<std::atomic<std::size_t>, status_names.size()> by_status{};
        /// Background processes that run, by what they do.
        std::array<std::atomic<std::size_t>, process_activity_names.size()> processes{};
        std::atomic<std::size_t> open{0};
        std::atomic<std::size_t> held_resets{0};
        std::atomic<std::size_t> leases{0};
        std::atomic<Seq> last_seq{0};
        std::atomic<Seq> first_seq{0};
        std::atomic<std::uint64_t> commits{0};
        std::atomic<std::uint64_t> commands{0};
        std::atomic<std::uint64_t> failures{0};
        std::atomic<std::uint64_t> heartbeats{0};
        std::atomic<std::uint64_t> reaps{0};
        std::atomic<std::int64_t> reap_lateness_last_ms{0};
        std::atomic<std::int64_t> reap_lateness_max_ms{0};
    };
    const Figures& figures() const { return figures_; }
    /// Of agents' tools, since the daemon came up.  Any thread.
    GuardCounts tool_counts() const;
    /// Why the store took nothing the last time; "" when it did.  Any thread.
    std::string why_failing() const;
    std::size_t queued() const { return queue_.size(); }

  private:
    struct Queued {
        Input input;
        Done done;  // may be empty: an observer does not wait
        bool direct = false;
        AwakeClock::Readings arrived{};  // when it entered the queue
    };

    /// What the steps need of it, which may be another since the last.
    void follow_config();
    void loop();
    /// One step; gives what is left of the submissions, which the write step has taken.
    std::span<Queued> commit(std::span<Queued> taken);
    void trim();
    void index_messages();
    void update_figures();

    Store& store_;
    const ConfigHolder& config_;
    const Publish publish_;
    const CarryOut carry_out_;
    const WatchedUntil watched_until_;
    BoundedQueue<Queued> queue_;
    Figures figures_;
    mutable Mutex failing_mutex_;
    std::string why_failing_ KNELL_GUARDED_BY(failing_mutex_);
    mutable Mutex tools_mutex_;
    GuardCounts tools_ KNELL_GUARDED_BY(tools_mutex_);

    // Writer thread only (after start).
    WriteStep write_step_;
    bool index_failing_ = false;
    std::vector<Effect> first_effects_;  // of the recovery, carried out once the thread runs

    std::thread thread_;
};

}  // namespace knell
