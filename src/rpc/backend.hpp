#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/background_process.hpp"
#include "core/error.hpp"
#include "core/stop_state.hpp"
#include "core/sweep_report.hpp"
#include "engine/command.hpp"
#include "engine/observation.hpp"
#include "engine/question.hpp"
#include "engine/reply.hpp"
#include "reset/reset_policies.hpp"
#include "rpc/caller.hpp"
#include "rpc/reports.hpp"
#include "rpc/respond.hpp"
#include "store/store.hpp"
#include "watch/process_table.hpp"
#include "wire/config_report.hpp"
#include "wire/gateway_report.hpp"

namespace knell::rpc {

class Activity;
class Feeds;

/// Reads something and makes the answer of it.
using ReadWork = std::move_only_function<Result<wire::Rendered>(Reader&)>;
/// As Respond, for those who give a value.
template <typename Value>
using Done = std::move_only_function<void(Result<Value>)>;

/// What a look at the command of an open session shows.
struct CommandEnd {
    std::vector<Leftover> leftovers;
    bool is_over = false;       // proven; false also when nobody could look
    bool by_parent = false;     // who says so is proven to have it from the kernel
    bool was_searched = false;  // leftovers were looked for, if there are none
};

/// A background process to be started for a session.
struct StartRequest {
    BackgroundProcess draft;  // id, session, task, argv, cwd ("": the session's own) and title
    /// NAME=value, added to what hooks are given too.  Never logged, never on record.
    std::vector<std::string> environment;
};
struct OutputQuery {
    ProcessId process_id;
    std::optional<std::int64_t> after;  // none: the last `limit` bytes
    std::size_t limit = 0;
};
/// What a process has written, by its place since it was started.
struct OutputPage {
    std::string bytes;
    std::int64_t after = 0;  // where they begin
    std::int64_t next = 0;   // ask again with after = next
    std::optional<Gap> gap;  // of what was asked for and is no longer kept: both ends included
    bool more = false;       // there was more than fitted
};

/// What came of a compression, once it is over.
struct CompressResult {
    CompressOutcome outcome = CompressOutcome::failed;
    std::optional<OpenedReply> child;  // none: it failed
    std::string provider;              // who made the summary
    std::string why;                   // there is none
};

/// Where we are: what reading a call's parameters needs to know.
class Surroundings {
  public:
    virtual ~Surroundings() = default;

    virtual const ProcessTable& processes() const = 0;
    virtual const std::string& host() const = 0;
    virtual const std::string& node_id() const = 0;
    virtual SessionId new_session_id() = 0;
    virtual ProcessId new_process_id() = 0;
    virtual WallTime wall_time() const = 0;
    /// How long a hosted session is kept when nothing holds it, and when a turn does whose client
    /// is gone.
    virtual std::chrono::seconds detach_window() const = 0;
    virtual std::chrono::seconds turn_window() const = 0;
    /// Those in force.  Any thread.
    virtual std::shared_ptr<const ResetPolicies> reset_policies() const = 0;
};

/// What space.activity is made of, beside the store.
struct SpaceView {
    WallTime now;
    Activity& activity;  // of the read thread
    std::vector<GatewayReport> gateways;
};

/// The daemon itself, to those who ask how it is or tell it what to do.
class NodeControl {
  public:
    virtual ~NodeControl() = default;

    /// On the read thread.
    virtual Result<NodeStatus> node_status(Reader& reader) const = 0;
    /// On the read thread.  Gateways are asked only while somebody wants to know of them.
    virtual SpaceView space(bool with_gateways) = 0;
    /// Looks at every owner now: what would end or ended, what is left alone and why.  A page of
    /// sessions is named, those opened after `after`.
    virtual void sweep(bool dry_run, Ordinal after, Done<SweepReport> done) = 0;
    virtual void hooks(HooksCall call, Done<HooksReply> done) = 0;
    /// Reads what is to be checked; on the read thread.
    virtual ConfigReport check_config(const ConfigQuestion& what) const = 0;
    /// Reads config.yaml and hooks/ anew and goes by them; an error in config.yaml changes nothing.
    virtual void reload(Done<ReloadReport> done) = 0;
    /// Ends the daemon once the answer has left.
    virtual void stop() = 0;
};

/// What the methods need of the daemon.  Both kinds of work are queued and bounded: a full queue
/// answers `limit` at once.
class Backend : public Surroundings, public NodeControl {
  public:
    /// A change: decided, made durable, then answered.
    virtual void submit(Command&& command, Done<Reply> done) = 0;
    /// Asked of memory, in the order of the changes around it.
    virtual void ask(Question&& question, Done<Reply> done) = 0;
    /// What is seen here; never refused.
    virtual void observe(Observation&& observation) = 0;
    /// A read named that hosted session: it is kept a while longer.  Any thread.
    virtual void note_named(const SessionId& session) = 0;
    /// A read, on a thread with a reader of its own.  Connections have their reads done in turn.
    virtual void read(ConnectionId asker, ReadWork work, Respond done) = 0;
    /// Nobody waits for the reads of that connection any more: those still queued are not done.
    virtual void drop_reads(ConnectionId asker) = 0;
    /// Whether they have to wait: its client has yet to take what was read for it before.
    virtual void hold_reads(ConnectionId asker, bool is_held) = 0;
    /// A call of that method was dropped without an answer, which is a bug.  Any thread; `answer`
    /// is called on the dispatcher's, unless the daemon stops.
    virtual void forgotten(std::string_view method, std::move_only_function<void()> answer) = 0;

    /// Starts it for its session once that is on record, or not at all.
    virtual void start_process(StartRequest request, Done<Reply> done) = 0;
    /// On the read thread: `not_found` where none of its output is kept.
    virtual Result<OutputPage> process_output(const OutputQuery& query) = 0;
    /// What a running one was last seen doing, newer than the record.  Any thread.
    virtual std::optional<ActivityFacts> activity_of(const ProcessId& id) const = 0;
    /// How far its stop is, newer than the record.  Any thread.
    virtual StopState stop_state(const BackgroundProcess& process) const = 0;
    struct ProcessLimits {
        std::size_t per_session = 0;
        std::size_t node = 0;
    };
    virtual ProcessLimits process_bounds() const = 0;

    /// Has what was said in it summarised, which takes as long as the summariser does; then a child
    /// goes on from the summary.  Its session is written to as ever meanwhile.
    virtual void compress(SessionId session, Generation generation, std::string said_by,
                          Done<CompressResult> done) = 0;

    virtual Feeds& feeds() = 0;

    /// Looks for what the command of an open session left behind, away from this thread.
    virtual void search_leftovers(const SessionId& session, pid_t caller,
                                  std::optional<ProcessIdentity> reaper,
                                  std::move_only_function<void(CommandEnd)> done) = 0;
    /// Once everybody who is watched was looked at: the end of an owner that died before this was
    /// called is submitted by then.
    virtual void after_a_look(std::move_only_function<void()> then) = 0;
    /// How that owner is watched right now, in words; "" when it is not.
    virtual std::string how_watched(const ProcessIdentity& process) const = 0;
};

/// A call named that session: a hosted one is kept a while longer.
inline void note_named(const Session& session, Backend& backend) {
    if (session.end || session.owner.kind != OwnerKind::hosted) return;
    backend.note_named(session.id);
}

/// A read of the daemon's own, of which nobody is told.  `was_read`: there was room for it.
inline void read_unasked(Backend& backend, std::move_only_function<void(Reader&)> work,
                         std::move_only_function<void(bool was_read)> done) {
    backend.read(
        ConnectionId::none,
        [work = std::move(work)](Reader& reader) mutable -> Result<Json> {
            work(reader);
            return Json{};
        },
        [done = std::move(done)](const Result<Json>& read) mutable { done(read.has_value()); });
}

}  // namespace knell::rpc
