#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/limits.hpp"
#include "engine/state.hpp"
#include "journal/journal.hpp"
#include "rpc/activity.hpp"
#include "rpc/backend.hpp"
#include "rpc/dispatcher.hpp"
#include "rpc/feeds.hpp"
#include "store/noting_store.hpp"
#include "testing/fake_processes.hpp"

namespace knell::testing {

/// The methods without threads and sockets: a journal on a memory store, every call answered before
/// it returns, processes and time invented.
class InProcessBackend final : public rpc::Backend {
  public:
    InProcessBackend();
    ~InProcessBackend() override { is_over_ = true; }
    InProcessBackend(const InProcessBackend&) = delete;
    InProcessBackend& operator=(const InProcessBackend&) = delete;

    rpc::HooksReport hooks_report;  // what hooks.list answers
    /// One hook whose trouble makes the answer of hooks.list longer than this.
    void report_trouble(std::size_t bytes);
    struct Search {
        SessionId session;
        std::optional<ProcessIdentity> reaper;
    };
    std::vector<Search> searches;         // for leftovers, so far
    rpc::CommandEnd found;                // what a search gives
    std::deque<Error> refusals;           // what the next changes are answered; then they are made
    std::vector<Input> submitted;         // and asked, refused or not
    std::vector<SessionId> named;         // by calls that only read
    bool refuses_reads = false;           // as when the queue is full
    bool holds_reads = false;             // they wait for `do_reads`
    bool holds_looks = false;             // and searches: they wait for `do_look`
    bool forgets_reads = false;           // they are dropped without an answer
    std::vector<GatewayReport> gateways;  // what others told
    std::vector<rpc::ConnectionId> hung_up;            // who is no longer there
    std::set<rpc::ConnectionId> held;                  // whose reads have to wait
    std::vector<rpc::StartRequest> started;            // processes, so far; refused ones too
    std::map<ProcessId, std::string> outputs;          // what processes wrote
    std::map<ProcessId, ActivityFacts> live_activity;  // what they were last seen doing
    std::map<ProcessId, StopState> live_stops;         // of others: as it is on record
    std::set<pid_t> watched;                           // as owners of sessions
    std::size_t output_kept = SIZE_MAX;                // bytes of each
    /// What session.compress answers, and for whom it was asked.
    Result<rpc::CompressResult> compression = rpc::CompressResult{};
    std::vector<SessionId> compressed;
    rpc::Backend::ProcessLimits process_limits{limits::processes_per_session_default,
                                               limits::processes_default};

    /// One line in, one line out ("" for a notification).  Ends the test when an answer is not what
    /// the rows of its method say, or a refusal names no row.
    std::string answer(std::string_view line, const rpc::Caller& caller);
    std::string answer(std::string_view line) { return answer(line, caller_); }

    /// By which conversations are reset from now on.
    void use_policies(ResetPolicies policies) {
        policies_ = std::make_shared<const ResetPolicies>(std::move(policies));
        state_.set_reset_policies(policies_);
    }
    Result<Reply> commit(Input&& input);
    /// Does what was held.
    void do_reads();
    /// The oldest of those that are held, or nothing.
    void do_look();
    rpc::Dispatcher& dispatcher() { return dispatcher_; }
    const rpc::Caller& caller() const { return caller_; }
    void pass(std::chrono::milliseconds time);
    FakeProcesses& fake_processes() { return processes_; }
    Reader& reader() { return *reader_; }

    void submit(Command&& command, rpc::Done<Reply> done) override;
    void ask(Question&& question, rpc::Done<Reply> done) override;
    void observe(Observation&& observation) override {
        static_cast<void>(commit(std::move(observation)));
    }
    void note_named(const SessionId& session) override {
        named.push_back(session);
        static_cast<void>(commit(Observation{Named{session}}));
    }
    WallTime wall_time() const override { return now_.wall; }
    std::chrono::seconds detach_window() const override { return limits::detach_window_default; }
    std::chrono::seconds turn_window() const override { return limits::turn_window_default; }
    std::shared_ptr<const ResetPolicies> reset_policies() const override { return policies_; }
    void compress(SessionId session, Generation /*generation*/, std::string /*said_by*/,
                  rpc::Done<rpc::CompressResult> done) override {
        compressed.push_back(std::move(session));
        done(compression);
    }
    void read(rpc::ConnectionId asker, rpc::ReadWork work, rpc::Respond done) override;
    void drop_reads(rpc::ConnectionId asker) override { hung_up.push_back(asker); }
    void hold_reads(rpc::ConnectionId asker, bool is_held) override {
        is_held ? void(held.insert(asker)) : void(held.erase(asker));
    }
    /// Ends the test, unless that is what it is about.
    void forgotten(std::string_view method, std::move_only_function<void()> answer) override;
    rpc::Feeds& feeds() override { return feeds_; }
    Result<rpc::NodeStatus> node_status(Reader& reader) const override;
    rpc::SpaceView space(bool with_gateways) override {
        return {now_.wall, activity_, with_gateways ? gateways : std::vector<GatewayReport>{}};
    }
    void after_a_look(std::move_only_function<void()> then) override;
    void search_leftovers(const SessionId& session, pid_t caller,
                          std::optional<ProcessIdentity> reaper,
                          std::move_only_function<void(rpc::CommandEnd)> done) override;
    void sweep(bool dry_run, Ordinal after, rpc::Done<SweepReport> done) override;
    /// Nobody is subscribed here.
    void hooks(rpc::HooksCall call, rpc::Done<rpc::HooksReply> done) override;
    /// There are no files here.
    ConfigReport check_config(const ConfigQuestion& /*what*/) const override { return {}; }
    void reload(rpc::Done<ReloadReport> done) override { done(ReloadReport{.is_taken = true}); }
    void stop() override { stopped_ = true; }
    std::string how_watched(const ProcessIdentity& process) const override {
        return watched.contains(process.pid) ? "held by a pidfd" : "";
    }
    const ProcessTable& processes() const override { return processes_; }
    const std::string& host() const override { return host_; }
    const std::string& node_id() const override { return store_->node_id(); }
    SessionId new_session_id() override;
    ProcessId new_process_id() override;
    /// Its pid is 1000 and so on, and its gate is open at once.
    void start_process(rpc::StartRequest request, rpc::Done<Reply> done) override;
    Result<rpc::OutputPage> process_output(const rpc::OutputQuery& query) override;
    std::optional<ActivityFacts> activity_of(const ProcessId& id) const override;
    StopState stop_state(const BackgroundProcess& process) const override;
    ProcessLimits process_bounds() const override { return process_limits; }

  private:
    struct Read {
        rpc::ReadWork work;
        rpc::Respond done;
    };
    void take(Input&& input, rpc::Done<Reply> done);
    /// What follows from a step for those who are connected.
    void tell(const Journal::Step& step);

    bool is_over_ = false;  // outlives the calls that are held
    FakeProcesses processes_;
    const std::string host_ = "testhost";
    std::unique_ptr<NotingStore> store_;
    std::unique_ptr<Reader> reader_;
    std::shared_ptr<const ResetPolicies> policies_ = std::make_shared<const ResetPolicies>();
    State state_;
    Journal journal_;
    rpc::Activity activity_{"life", store_->node_id(), store_->notes()};
    rpc::Feeds feeds_;
    rpc::Dispatcher dispatcher_;
    rpc::Caller caller_;
    std::vector<Read> held_;
    std::deque<std::move_only_function<void()>> looks_;
    Now now_;
    int ids_ = 0;
    bool stopped_ = false;
};

}  // namespace knell::testing
