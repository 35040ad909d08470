#pragma once

#include <chrono>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <poll.h>

#include "base/time.hpp"
#include "core/error.hpp"
#include "platform/child_group.hpp"
#include "platform/fd.hpp"
#include "platform/output_pipe.hpp"
#include "summarize/job.hpp"
#include "summarize/output.hpp"

namespace knell {

/// One provider at work on one job: its process group, what it prints, how it ends.  Nothing here
/// waits.  One thread; what still runs is killed with this (platform/child_group.hpp).
///
///   runs ─▶ asked to end, when its time is over ─▶ finished
///        └▶ finished: it ended, or printed too much
///
/// It is finished when its main process ends, whoever else holds its output open, or at the latest
/// two seconds after its time is over.  What is left of its group then is killed.
class ProviderRun {
  public:
    /// The summary, or why there is none.
    using Outcome = std::expected<std::string, std::string>;

    /// Says why it cannot be started; `limit` where the provider is not at fault
    /// (platform/shortage.hpp).
    static Result<std::unique_ptr<ProviderRun>> start(const Provider& provider,
                                                      const SummaryJob& job, SteadyTime now);

    /// Readable when there is a reason for `step` or `reap`.
    void add_descriptors(std::vector<pollfd>& out) const;
    /// When there is a reason for `step` though no descriptor says so.
    std::optional<SteadyTime> next_deadline() const { return next_deadline_; }

    /// Reads a bounded amount of output, and says how it went once that is known.
    std::optional<Outcome> step(SteadyTime now);

    /// Kills the whole group; no outcome will follow.
    void kill();
    /// After an outcome or `kill`: true once the process is gone for good.
    bool reap() { return group_.reap(); }

  private:
    struct Readers {
        Fd output;
        Fd errors;
    };
    ProviderRun(Spawned started, Readers readers, std::chrono::milliseconds timeout,
                std::int64_t content_bytes, SteadyTime now);

    void read_some();
    Outcome judge_exit(const ChildExit& exit) const;
    Outcome overdue() const;
    std::optional<Outcome> enforce_deadline(SteadyTime now);

    const std::chrono::milliseconds timeout_;
    const std::int64_t content_bytes_;
    ChildGroup group_;
    Readers readers_;                          // closed at the ends of the outputs
    std::optional<SteadyTime> next_deadline_;  // to ask it to end, then to kill it
    bool asked_to_end_ = false;
    std::string output_;
    ErrorTail errors_;
};

}  // namespace knell
