#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "activity/proc_source.hpp"
#include "activity/sampler.hpp"
#include "background/children.hpp"
#include "background/output_files.hpp"
#include "background/output_keeper.hpp"
#include "background/watched_processes.hpp"
#include "base/bounded_queue.hpp"
#include "config/config_holder.hpp"
#include "daemon/launch_thread.hpp"
#include "daemon/leftover_thread.hpp"
#include "daemon/read_thread.hpp"
#include "engine/command.hpp"
#include "engine/effect.hpp"
#include "engine/observation.hpp"
#include "platform/poller.hpp"
#include "rpc/backend.hpp"
#include "watch/process_watch.hpp"

namespace knell {

/// Background processes, as far as they are this daemon's: starts them, watches them, says what
/// they do, keeps their output and has them stopped.  What is on record decides; the effects of a
/// commit come here.
///
/// A start goes through
///
///   made, waits at its gate ─▶ RecordProcess ─▶ on record: WatchProcess, OpenGate: it runs
///                                            └▶ refused: it leaves without having run
///
/// Threads: `start` on the server's; effects on the writer's; what is told comes from the threads
/// knell-processes, knell-watch, knell-start and knell-leftovers.
class BackgroundService {
  public:
    struct Dependencies {
        const ProcessTable& table;
        LeftoverThread& leftovers;
        WatchedProcesses& running;
        const ConfigHolder& config;
        std::string socket;    // of this daemon
        std::size_t held_max;  // descriptors for watching
        /// Any thread.
        std::function<void(Observation)> observe;
        /// Any thread; the work is done on the server's.
        std::function<void(std::move_only_function<void()>)> post;
        std::function<void(std::chrono::milliseconds, std::function<void()>)> after;
        /// On the server's thread, as the answer is.
        std::function<void(Command&&, rpc::Done<Reply>)> submit;
    };

    BackgroundService(std::unique_ptr<OutputFiles> outputs, Dependencies dependencies);
    ~BackgroundService() { stop(); }

    /// When all that runs is known, and before anything new can be: the output of all others is
    /// removed in its time.
    void sort_outputs(ReadThread& reads);
    /// What an earlier daemon did not come to: what a process that has ended left running comes on
    /// record, and where it was being stopped that goes on.
    void take_up_remains(ReadThread& reads);

    /// `session`: as it is on record, or nothing.
    void start(rpc::StartRequest request, const std::optional<Session>& session,
               rpc::Done<Reply> done);
    Result<rpc::OutputPage> output(const rpc::OutputQuery& query) const;
    std::optional<ActivityFacts> activity_of(const ProcessId& id) const {
        return sampler_.facts(id);
    }
    /// Any thread.
    StopState stop_state(const BackgroundProcess& process) const;
    /// On the thread of the leftovers.
    void note_stopped(const TreeStopper::Stopped& tree);
    rpc::Backend::ProcessLimits bounds() const {
        const auto config = here_.config.current();
        return {.per_session = config->processes.per_session, .node = config->processes.max};
    }
    WatchList::Counts watched() const { return watch_.counts(); }
    std::string how_watched(const ProcessIdentity& process) const {
        return std::string(WatchList::describe(watch_.how(process)));
    }
    /// Until when every owner and background process that is watched was there.  On the writer's
    /// thread.
    SteadyTime proven_until(const ProcessWatch& owners);

    void carry_out(WatchProcess&& effect);
    void carry_out(UnwatchProcess&& effect);
    void carry_out(const OpenGate& effect);
    void carry_out(StopTree&& effect);
    void carry_out(StopLeftovers&& effect);

    /// What runs goes on running, and is found again by the next daemon.
    void stop();

  private:
    struct Request {
        ProcessId id;
        bool is_over = false;
        std::chrono::milliseconds ago{0};
    };

    void sort_outputs(const std::vector<ProcessId>& unclaimed, Reader& reader);
    void take_up_remains(const std::vector<ProcessId>& marks, Reader& reader);
    void submit_record(BackgroundProcess draft, rpc::Done<Reply> done);
    void refuse(const ProcessId& id);
    void record_survivors(const UnwatchProcess& gone, std::vector<Leftover> survivors);
    void record_survivor(RecordProcess record, int tries);
    /// With what was seen below it so far, if we started it.
    TreeRoot root_of(const ProcessId& id, const SessionId& session_id,
                     const ProcessIdentity& process) const;
    void ask(Request request);
    void loop();
    void step();
    Awaited awaited(Now now) const;

    const Dependencies here_;
    const std::unique_ptr<OutputFiles> outputs_;
    Children children_;
    BoundedQueue<Request> queue_;
    Poller poller_;
    std::atomic<bool> stopping_ = false;
    std::atomic<bool> remains_known_ = false;  // what an earlier daemon left is looked through
    ProcSource source_;
    ActivitySampler sampler_;

    OutputKeeper keeper_;  // knell-processes only
    SteadyTime proven_{};  // the writer's thread only

    ProcessWatch watch_;
    LaunchThread launches_;
    std::thread thread_;
};

}  // namespace knell
