#include "daemon/background_service.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>

#include "core/limits.hpp"
#include "daemon/leftover_log.hpp"
#include "engine/refusals.hpp"
#include "platform/clock.hpp"
#include "platform/environment.hpp"
#include "platform/log.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

/// A session whose owner is gone has ended a moment later, and takes what was left running then.
constexpr auto record_again = 200ms;
constexpr int record_tries = 50;
/// How soon it is looked again whether a child that is dying can be reaped.
constexpr auto reap_again = 20ms;

/// Where one runs when nobody says.
std::string directory_of(const Session& session) {
    if (!session.cwd.empty()) return session.cwd;
    auto home = environment_variable("HOME");
    return home.starts_with('/') ? home : "/";
}

}  // namespace

BackgroundService::BackgroundService(std::unique_ptr<OutputFiles> outputs,
                                     Dependencies dependencies)
    : here_(std::move(dependencies)),
      outputs_(std::move(outputs)),
      queue_(limits::processes_max),
      source_(here_.table),
      sampler_(source_),
      keeper_(*outputs_, limits::process_kept_after_exit),
      watch_(
          here_.table, here_.held_max,
          {.gone =
               [this](const auto& process, const auto& departure) {
                   here_.observe(ProcessGone{process, departure, children_.why_never_ran(process)});
               },
           .unknown =
               [](const auto& process, const auto& why) {
                   log_info("whether background process {} still runs cannot be told: {}",
                            process.pid, why);
               },
           .alive = [](const auto&) {}}),
      launches_(*outputs_, here_.table, children_),
      thread_([this] { loop(); }) {}

void BackgroundService::stop() {
    launches_.stop();
    here_.leftovers.stop();  // what it finds is told here
    if (stopping_.exchange(true)) return;
    poller_.wake();
    thread_.join();
}

// --- output
// ---------------------------------------------------------------------------------------

void BackgroundService::sort_outputs(ReadThread& reads) {
    auto unclaimed = outputs_->list();
    std::erase_if(unclaimed,
                  [this](const ProcessId& id) { return here_.running.find(id).has_value(); });
    if (unclaimed.empty()) return;
    auto run = [this, unclaimed = std::move(unclaimed)](Reader& reader) {
        sort_outputs(unclaimed, reader);
    };
    if (!reads.submit(rpc::ConnectionId::none, {std::move(run), {}})) {
        log_error("output of processes that have ended stays in {} until the next start",
                  outputs_->folder());
    }
}

void BackgroundService::sort_outputs(const std::vector<ProcessId>& unclaimed, Reader& reader) {
    const auto now = read_clocks().wall;
    for (const auto& id : unclaimed) {
        const auto row = reader.process(id);
        if (!row) {
            log_error("output of background process {} stays in {} until the next start: {}",
                      id.text(), outputs_->folder(), row.error().message);
        } else if (!*row) {
            outputs_->remove(id);  // it was refused, or never came on record
        } else if (const auto& exit = (*row)->process.exit) {
            ask({id, /*is_over=*/true, std::max(now - exit->at, 0ms)});
        }
    }
}

Result<rpc::OutputPage> BackgroundService::output(const rpc::OutputQuery& query) const {
    auto slice = outputs_->read(query.process_id, query.after, query.limit);
    if (!slice) return std::unexpected(std::move(slice.error()));
    rpc::OutputPage page{.bytes = std::move(slice->bytes),
                         .after = slice->after,
                         .next = slice->next,
                         .gap = {},
                         .more = slice->more};
    if (slice->gap) page.gap = Gap{slice->gap->first, slice->gap->second};
    return page;
}

// --- what an earlier daemon left
// ------------------------------------------------------------------

void BackgroundService::take_up_remains(ReadThread& reads) {
    here_.leftovers.look_for_marks([this, &reads](std::vector<ProcessId> marks) {
        if (marks.empty()) {
            remains_known_ = true;
            return;
        }
        auto run = [this, marks = std::move(marks)](Reader& reader) {
            take_up_remains(marks, reader);
            remains_known_ = true;
        };
        if (!reads.submit(rpc::ConnectionId::none, {std::move(run), {}})) {
            remains_known_ = true;
            log_error(
                "what ended background processes left running is not on record until the "
                "next start: too many reads wait");
        }
    });
}

void BackgroundService::take_up_remains(const std::vector<ProcessId>& marks, Reader& reader) {
    for (const auto& id : marks) {
        const auto row = reader.process(id);
        if (!row) {
            log_error(
                "what background process {} left running is not on record until the next "
                "start: {}",
                id.text(), row.error().message);
            continue;
        }
        // Of one that runs the watch tells, and of none on record nothing is ours.
        if (!*row || !(*row)->process.exit) continue;
        const auto& process = (*row)->process;
        const TreeRoot root{id, process.session_id, process.process};
        if (process.stop_asked_at) {
            log_info(
                "background process {} was being stopped, asked for by {}: goes on with what "
                "it left running",
                id.text(), process.stop_asked_by);
            here_.leftovers.stop_tree(root);
        }
        UnwatchProcess gone{id, process.process, process.session_id, process.task_id};
        here_.leftovers.find_survivors(
            root, [this, gone = std::move(gone)](std::vector<Leftover> survivors) {
                record_survivors(gone, std::move(survivors));
            });
    }
}

// --- starting
// -------------------------------------------------------------------------------------

void BackgroundService::start(rpc::StartRequest request, const std::optional<Session>& session,
                              rpc::Done<Reply> done) {
    auto& draft = request.draft;
    if (!session) return done(std::unexpected(not_found(draft.session_id)));
    if (session->end) {
        return done(std::unexpected(has_ended(*session, "resume it to run something in it")));
    }
    if (draft.cwd.empty()) draft.cwd = directory_of(*session);
    LaunchOrder order{.id = draft.id,
                      .session_id = draft.session_id,
                      .argv = draft.argv,
                      .cwd = draft.cwd,
                      .environment = std::move(request.environment),
                      .socket = here_.socket};
    launches_.launch(std::move(order), [this, draft = std::move(draft), done = std::move(done)](
                                           Result<ProcessIdentity> made) mutable {
        here_.post([this, draft = std::move(draft), done = std::move(done),
                    made = std::move(made)]() mutable {
            if (!made) return done(std::unexpected(std::move(made.error())));
            draft.process = std::move(*made);
            submit_record(std::move(draft), std::move(done));
        });
    });
}

void BackgroundService::submit_record(BackgroundProcess draft, rpc::Done<Reply> done) {
    const auto settings = here_.config.current()->processes;
    auto id = draft.id;
    here_.submit(RecordProcess{.draft = std::move(draft),
                               .per_session_max = settings.per_session,
                               .node_max = settings.max},
                 [this, id = std::move(id), done = std::move(done)](Result<Reply> reply) mutable {
                     if (!reply) refuse(id);
                     done(std::move(reply));
                 });
}

void BackgroundService::refuse(const ProcessId& id) {
    children_.refuse(id);
    outputs_->remove(id);
    poller_.wake();
}

// --- effects
// --------------------------------------------------------------------------------------

void BackgroundService::carry_out(WatchProcess&& effect) {
    const auto& process = effect.process;
    here_.running.add(process);
    watch_.watch(process.process);
    sampler_.add(process.id, process.process, process.activity, process.stale_since.has_value());
    if (process.origin == ProcessOrigin::started) {
        ask({process.id});
    } else {
        poller_.wake();
    }
}

void BackgroundService::carry_out(const OpenGate& effect) {
    const auto facts = here_.running.find(effect.id);
    if (!facts || !children_.let_go(effect.id, facts->generation)) {
        log_error("background process {} is on record, but does not wait to be let go",  //
                  effect.id.text());
        return;
    }
    poller_.wake();
}

void BackgroundService::carry_out(UnwatchProcess&& effect) {
    auto root = root_of(effect.id, effect.session_id, effect.process);
    here_.running.remove(effect.id);
    watch_.unwatch(effect.process);
    sampler_.remove(effect.id);
    ask({effect.id, /*is_over=*/true});
    // Reaped behind that: until then the number of its process session is its own.
    here_.leftovers.find_survivors(
        std::move(root), [this, gone = std::move(effect)](std::vector<Leftover> survivors) mutable {
            children_.forget(gone.id);
            poller_.wake();
            record_survivors(gone, std::move(survivors));
        });
}

void BackgroundService::carry_out(StopTree&& effect) {
    const auto facts = here_.running.find(effect.id);
    log_info("stopping background process {} (pid {}: {}) and what belongs to it, asked for by {}",
             effect.id.text(), effect.process.pid, effect.command, effect.said_by);
    here_.leftovers.stop_tree(
        root_of(effect.id, facts ? facts->session_id : SessionId{}, effect.process));
}

TreeRoot BackgroundService::root_of(const ProcessId& id, const SessionId& session_id,
                                    const ProcessIdentity& process) const {
    TreeRoot root{id, session_id, process};
    // Of what we did not start it is not known that all below was started for the session: what
    // left a shell that somebody registered may be anything.
    const auto facts = here_.running.find(id);
    if (!facts || facts->origin != ProcessOrigin::started) return root;
    // Looked at on the same host, in the same boot and pid namespace.
    for (const auto& [pid, start_ticks] : sampler_.members(id)) {
        auto member = process;
        member.pid = pid;
        member.start_ticks = start_ticks;
        root.seen.push_back(std::move(member));
    }
    return root;
}

void BackgroundService::carry_out(StopLeftovers&& effect) {
    log_stopping(effect);
    here_.leftovers.stop_leftovers(
        {std::move(effect.session_id), effect.generation, std::move(effect.leftovers)});
}

StopState BackgroundService::stop_state(const BackgroundProcess& process) const {
    auto state = here_.leftovers.stop_state(process.id);
    if (!process.stop_asked_at || state.is_stopping) return state;
    // That it ended, or was left, comes on record behind the stop; and a daemon that has just come
    // up may still find something of one that had ended before.
    state.is_stopping = process.exit ? !remains_known_ : state.left.empty();
    return state;
}

void BackgroundService::note_stopped(const TreeStopper::Stopped& tree) {
    log_stopped(tree);
    if (tree.left.empty()) return;
    here_.observe(ProcessNotStopped{tree.root.id, tree.root.process, tree.left});
}

void BackgroundService::record_survivors(const UnwatchProcess& gone,
                                         std::vector<Leftover> survivors) {
    for (auto& survivor : survivors) {
        if (here_.running.is_on_record(survivor.process)) continue;
        log_info("background process {} has ended and left process {} ({}) running", gone.id.text(),
                 survivor.process.pid, survivor.command);
        RecordProcess record;
        record.draft.id = process_id_of(survivor.process);
        record.draft.session_id = gone.session_id;
        record.draft.task_id = gone.task_id;
        record.draft.origin = ProcessOrigin::leftover;
        record.draft.process = std::move(survivor.process);
        record.draft.argv = {std::move(survivor.command)};
        record.per_session_max = SIZE_MAX;  // it runs, whether or not there is room for it
        record.node_max = here_.config.current()->processes.max;
        here_.post([this, record = std::move(record)]() mutable {
            record_survivor(std::move(record), record_tries);
        });
    }
}

/// On the server's thread.
void BackgroundService::record_survivor(RecordProcess record, int tries) {
    auto again = record;
    here_.submit(
        std::move(record), [this, again = std::move(again), tries](Result<Reply> reply) mutable {
            if (reply) return;
            if (reply.error().code == ErrorCode::ended && tries > 0) {
                return here_.after(record_again, [this, again = std::move(again), tries] {
                    record_survivor(again, tries - 1);
                });
            }
            log_error(
                "process {}, left running by a background process of session {}, is not on "
                "record: {}",
                again.draft.process.pid, again.draft.session_id.text(), reply.error().message);
        });
}

SteadyTime BackgroundService::proven_until(const ProcessWatch& owners) {
    const auto is_empty = [](const WatchList::Counts& counts) {
        return counts.held + counts.looked_at + counts.unclear == 0;
    };
    const auto ours = watch_.counts();
    // A watch with nothing to watch looks at nothing.
    if (is_empty(ours)) {
        proven_ = owners.proven_until();
    } else if (ours.unclear == 0) {
        const auto alone = watch_.proven_until();
        proven_ = is_empty(owners.counts()) ? alone : std::min(alone, owners.proven_until());
    }
    // One that cannot be told is not marked so on record, as a session is: while there is such a
    // one nothing newer is said of any.
    return proven_;
}

// --- the thread
// -----------------------------------------------------------------------------------

void BackgroundService::ask(Request request) {
    queue_.push_always(std::move(request));
    poller_.wake();
}

void BackgroundService::loop() {
    pthread_setname_np(pthread_self(), "knell-processes");
    while (!stopping_) {
        const auto now = read_clocks();
        poller_.wait(awaited(now), now.steady);
        step();
    }
}

Awaited BackgroundService::awaited(Now now) const {
    Awaited awaited;
    children_.add_descriptors(awaited.descriptors);
    awaited.descriptors.push_back(
        {.fd = keeper_.descriptor(now.steady), .events = POLLIN, .revents = 0});
    awaited.no_later_than(keeper_.next_step());
    awaited.no_later_than(sampler_.next_step());
    if (children_.has_unreaped()) awaited.no_later_than(now.steady + reap_again);
    return awaited;
}

void BackgroundService::step() {
    const auto now = read_clocks();
    const auto settings = here_.config.current()->processes;  // as of the last reload
    keeper_.set_bytes_max(static_cast<std::int64_t>(settings.output_bytes));
    sampler_.set_stale_after(settings.stale_after);
    std::vector<Request> taken;
    queue_.pop_all(taken, 0ms);
    for (const auto& request : taken) {
        if (request.is_over) {
            keeper_.ended(request.id, now.steady - request.ago, now.steady);
        } else {
            keeper_.add(request.id, now.steady);
        }
    }
    children_.step();
    keeper_.step(now.steady);
    for (auto& finding : sampler_.step(now)) {
        here_.observe(
            ProcessActive{std::move(finding.id), std::move(finding.facts), finding.stale});
    }
}

}  // namespace knell
