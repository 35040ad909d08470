#pragma once

#include <set>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "base/mutex.hpp"
#include "core/error.hpp"
#include "platform/poller.hpp"
#include "summarize/job.hpp"
#include "summarize/work.hpp"

namespace knell {

/// The thread that makes summaries (`knell-summary`).  It begins with the first job; any number of
/// providers that hang cost it nothing but their places.
///
///   takes jobs ─▶ stopped
class SummaryRunner {
  public:
    SummaryRunner() = default;
    SummaryRunner(const SummaryRunner&) = delete;
    SummaryRunner& operator=(const SummaryRunner&) = delete;
    ~SummaryRunner() { stop(); }

    /// Any thread.  `done` is called once, on the runner's thread and without a lock of ours held;
    /// it may submit and cancel, and must neither wait nor stop the runner.  After an error it is
    /// not called: `limit` when too many wait already or there can be no thread, `internal` after
    /// `stop`.
    Result<void> submit(SummaryJob job, SummaryDone done);

    /// Any thread.  Those that were submitted for the session until now fail, "cancelled".
    void cancel(const SessionId& session_id);

    /// Kills what runs; all that was taken fails, "the daemon stops".  When it returns each `done`
    /// was called.  The thread of the owner.
    void stop();

  private:
    struct Submission {
        SummaryJob job;
        SummaryDone done;
    };
    using Order = std::variant<Submission, SessionId>;  // an id: cancel
    static const SessionId& session_of(const Order& order);

    bool is_cancelled_last(const SessionId& session_id) KNELL_REQUIRES(mutex_);
    void loop();
    /// True when the runner is to stop.
    bool take_orders();
    void tell_finished();
    void wait_until_gone();

    Poller poller_;     // of the thread, except `wake`
    SummaryWork work_;  // of the thread

    Mutex mutex_;
    std::vector<Order> orders_ KNELL_GUARDED_BY(mutex_);  // not taken yet
    /// The session of each job that was taken and not told of yet.
    std::multiset<SessionId> unfinished_ KNELL_GUARDED_BY(mutex_);
    bool stopping_ KNELL_GUARDED_BY(mutex_) = false;
    std::thread thread_ KNELL_GUARDED_BY(mutex_);
};

}  // namespace knell
