#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>

#include "base/time.hpp"
#include "core/limits.hpp"
#include "summarize/job.hpp"
#include "summarize/provider_run.hpp"

namespace knell {

/// All summaries that are being made.  One thread, which waits for the descriptors and the deadline
/// and then calls `step`; nothing here blocks.
///
///   waiting   for one of those that run to end
///   running   its providers, one after the other
///   finished  until it is taken; every job is, once
///
///   add ─▶ waiting;  step: waiting ─▶ running ─▶ finished;  cancel: waiting, running ─▶ finished
class SummaryWork {
  public:
    explicit SummaryWork(std::size_t running_max = limits::summary_jobs_max)
        : running_max_(running_max) {}

    void add(SummaryJob job, SummaryDone done);
    /// Kills what makes summaries of the session.
    void cancel(const SessionId& session_id, std::string_view why);
    void cancel_all(std::string_view why);

    /// What to poll for: pidfds and output pipes.
    void add_descriptors(std::vector<pollfd>& out) const;
    /// When to call `step` though none of them is ready.
    std::optional<SteadyTime> next_deadline() const;

    /// Starts, reads output, goes on to the next provider, reaps, and ends what is past its time.
    void step(SteadyTime now);

    struct Finished {
        SessionId session_id;
        SummaryDone done;
        SummaryOutcome outcome;
    };
    /// Since the last call.
    std::vector<Finished> take_finished();

    std::size_t running() const { return running_.size(); }
    std::size_t waiting() const { return waiting_.size(); }
    /// Killed and not reaped yet.
    std::size_t dying() const { return dying_.size(); }

  private:
    struct Task {
        SummaryJob job;
        SummaryDone done;
        std::size_t next = 0;  // of its providers
        std::vector<std::string> failures;
        std::unique_ptr<ProviderRun> run;  // of the provider before that, once one is started
    };

    /// True when the task is finished.
    bool step_task(Task& task, SteadyTime now);
    /// Starts the next provider that can be.  True when there is none, or the system is short of
    /// what it takes to start one: the task is finished.
    bool start_next(Task& task, SteadyTime now);
    void finish(Task& task, SummaryOutcome outcome);
    void give_up(Task& task, std::string_view why);
    void retire(std::unique_ptr<ProviderRun> run);

    const std::size_t running_max_;
    std::deque<Task> waiting_;  // longest first
    std::vector<Task> running_;
    std::vector<std::unique_ptr<ProviderRun>> dying_;
    std::vector<Finished> finished_;
};

}  // namespace knell
