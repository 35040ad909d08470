// Background processes: they come on record, are stopped and vouched for, are seen doing something,
// and go.

#include <algorithm>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "engine/background.hpp"
#include "engine/clock_words.hpp"
#include "engine/decide_on.hpp"
#include "engine/refusals.hpp"

namespace knell {

namespace {

constexpr std::size_t command_bytes_max = limits::leftover_command_bytes_max;

/// Its session, if that is open: kept by background work or not, as it is once this process counts
/// or does not.
void follow_session(Decision& decision, const RunningProcess& process, bool counts,
                    const State& state) {
    const auto* live = state.find(process.row.session_id);
    if (live == nullptr) return;
    auto counting = state.processes().counting_of(process.row.session_id);
    if (process.counts()) --counting;
    if (counts) ++counting;
    follow_background(decision, *live, counting, state);
}

ProcessRef ref_to(const RunningProcess& process) {
    return {process.row.number, process.row.id};
}

/// A session may have so many, and the node so many in all.
std::optional<Error> why_no_room(const RecordProcess& record, const State& state) {
    const auto& session_id = record.draft.session_id;
    const auto of_session = state.processes().count_of(session_id);
    if (of_session >= record.per_session_max) {
        return Error{
            ErrorCode::limit,
            fmt::format("{} background processes of session {} run already, and it may "
                        "have {}; stop one (`knell ps --session {}` lists them)",
                        of_session, session_id.text(), record.per_session_max, session_id.text()),
            {},
            {}};
    }
    if (state.processes().size() >= record.node_max) {
        return Error{ErrorCode::limit,
                     fmt::format("{} background processes run on this node already, and it may "
                                 "have {}; stop one (`knell ps` lists them), or raise "
                                 "processes.max",
                                 state.processes().size(), record.node_max),
                     {},
                     {}};
    }
    return std::nullopt;
}

Error on_record_already(const BackgroundProcess& process) {
    return {ErrorCode::owned,
            fmt::format("process {} is on record already: it is {} of session {}; leave it there, "
                        "or stop it with process.stop",
                        process.process.pid, process.id.text(), process.session_id.text()),
            "pid",
            {}};
}

Error not_running(const ProcessId& id) {
    return {ErrorCode::not_found,
            fmt::format("no background process {} runs; `knell ps --all` lists what there was",
                        id.text()),
            "process_id",
            {}};
}

BackgroundProcess filled_in(BackgroundProcess&& draft, const LiveSession& live,
                            const State& state) {
    auto process = std::move(draft);
    // It was there when the call came in, and may be gone when its turn comes.
    const auto now = state.seen_at(live);
    process.generation = live.generation();
    if (process.id.empty()) process.id = process_id_of(process.process);
    process.started_at = process.started_at == WallTime{} ? now : std::min(process.started_at, now);
    process.activity = {ProcessActivity::working, now,
                        process.origin == ProcessOrigin::started ? "it was just started"
                                                                 : "it just came on record"};
    return process;
}

ExitKind kind_of(const Departure& departure) {
    switch (departure.kind) {
        case Departure::Kind::exited:
            return ExitKind::exited;
        case Departure::Kind::signaled:
            return ExitKind::signaled;
        case Departure::Kind::oom_killed:
            return ExitKind::oom_killed;
        case Departure::Kind::host_restart:
            return ExitKind::host_restart;
        case Departure::Kind::lost:
        case Departure::Kind::stopped:
            break;
    }
    return ExitKind::lost;
}

/// The last moment at which it is known to have been there.
WallTime last_known_alive(const RunningProcess& process, const Departure& departure,
                          const State& state) {
    if (departure.last_look) return state.earliest_for(process, departure.last_look);
    auto known = process.row.started_at;
    // Until its last word an earlier daemon watched it and would have seen it go.
    const auto watched_until = state.last_word_for(process);
    const auto seen_gone = state.latest_for(process, departure.seen_at);
    if (watched_until && *watched_until <= seen_gone) known = std::max(known, *watched_until);
    return known;
}

ProcessExit exit_of(const RunningProcess& process, const ProcessGone& gone, const State& state) {
    const auto& departure = gone.departure;
    ProcessExit exit;
    exit.kind = kind_of(departure);
    exit.number = departure.number;
    exit.evidence = departure.evidence;
    if (!gone.never_ran.empty()) {
        exit.kind = ExitKind::never_ran;
        exit.number = 0;
        exit.evidence = gone.never_ran;
    }
    // Whoever saw it, and by whatever clock: nothing ends before it began.
    const auto& row = process.row;
    exit.before = std::max(state.latest_for(process, departure.seen_at), row.started_at);
    exit.after =
        std::clamp(last_known_alive(process, departure, state), row.started_at, exit.before);
    // Where nobody watched, the last that was heard of it.
    exit.at =
        departure.last_look ? exit.before : std::clamp(row.activity.since, exit.after, exit.before);
    exit.evidence += said_of_clock(state.set_back_for(process), !departure.last_look, state);
    return exit;
}

/// What a background process left running when its session had ended already: it runs, so it is on
/// record.
Decided<RecordProcess::Reply> record_survivor(RecordProcess&& record, const Session& past,
                                              const State& state) {
    if (const auto* there = state.processes().find(record.draft.process)) {
        return reply_with(ProcessReply{there->row, /*changed=*/false});
    }
    if (auto why = why_no_room(record, state)) return refuse(std::move(*why));
    auto decision = reply_with(ProcessReply{});
    auto process = std::move(record.draft);
    const auto now = state.now().wall;
    process.generation = past.generation;
    process.started_at = now;
    process.activity = {ProcessActivity::working, now, "it just came on record"};
    auto event = process_event(EventType::process_start, process, &past, state);
    decision.reply->process = put_on_record(decision, std::move(process), std::move(event), state);
    decision.reply->changed = true;
    return decision;
}

}  // namespace

Decided<RecordProcess::Reply> decide_on(RecordProcess&& record, const Session* past,
                                        const State& state) {
    const auto& session_id = record.draft.session_id;
    const auto* live = state.find(session_id);
    if (live == nullptr) {
        if (past == nullptr) return refuse(not_found(session_id));
        if (record.draft.origin == ProcessOrigin::leftover) {
            return record_survivor(std::move(record), *past, state);
        }
        return refuse(has_ended(*past, "resume it to run something in it"));
    }
    if (const auto gone = departed(*live, state)) {
        return refuse(ended_just_now(*live, gone->end, state));
    }
    for (const auto* there :
         {state.processes().find(record.draft.process), state.processes().find(record.draft.id)}) {
        if (there == nullptr) continue;
        // Said again: it is what was asked for.
        const bool is_same =
            there->row.session_id == session_id && there->row.process == record.draft.process;
        if (!is_same || record.draft.origin == ProcessOrigin::started) {
            return refuse(on_record_already(there->row));
        }
        return reply_with(ProcessReply{there->row, /*changed=*/false});
    }
    if (auto why = why_no_room(record, state)) return refuse(std::move(*why));

    auto decision = reply_with(ProcessReply{});
    auto process = filled_in(std::move(record.draft), *live, state);
    auto event = process_event(EventType::process_start, process, past, state);
    decision.reply->process = put_on_record(decision, std::move(process), std::move(event), state);
    decision.reply->changed = true;
    follow_background(decision, *live, state.processes().counting_of(live->id()) + 1, state);
    return decision;
}

Decided<StopProcess::Reply> decide_on(StopProcess&& stop, const Session*, const State& state) {
    const auto* process = state.processes().find(stop.process_id);
    if (process == nullptr) return refuse(not_running(stop.process_id));
    auto decision = reply_with(ProcessReply{process->row, !process->row.stop_asked_at});
    // Who asks again wants it tried again.
    decision.effects.emplace_back(StopTree{process->row.id, process->row.process,
                                           command_text(process->row.argv, command_bytes_max),
                                           stop.said_by});
    if (process->row.stop_asked_at) return decision;
    auto& row = decision.reply->process;
    row.stop_asked_at = state.time_for(*process);
    row.stop_asked_by = stop.said_by;
    decision.changes.emplace_back(
        ProcessStopAsked{ref_to(*process), row.stop_asked_at, std::move(stop.said_by)});
    return decision;
}

Decided<VouchProcess::Reply> decide_on(VouchProcess&& vouch, const Session*, const State& state) {
    const auto* process = state.processes().find(vouch.process_id);
    if (process == nullptr) return refuse(not_running(vouch.process_id));
    const auto now = state.now().wall;
    if (vouch.until && *vouch.until <= now) {
        return refuse(Error{ErrorCode::invalid_params,
                            fmt::format("until: {} is over; give a time to come, such as 2h",
                                        format_rfc3339(*vouch.until)),
                            "until",
                            {}});
    }
    if (vouch.until && *vouch.until > now + limits::process_vouch_max) {
        return refuse(Error{ErrorCode::invalid_params,
                            fmt::format("until: {} is too far ahead; vouch for 7 days at most, and "
                                        "again then",
                                        format_rfc3339(*vouch.until)),
                            "until",
                            {}});
    }
    const bool changed = process->row.vouched_until != vouch.until;
    auto decision = reply_with(ProcessReply{process->row, changed});
    if (!changed) return decision;
    decision.reply->process.vouched_until = vouch.until;
    decision.changes.emplace_back(ProcessVouched{ref_to(*process), vouch.until});
    const bool is_working = process->row.activity.activity == ProcessActivity::working;
    follow_session(decision, *process, is_working || vouch.until, state);
    return decision;
}

Decision decide_vouch_over(const RunningProcess& process, const State& state) {
    Decision decision;
    decision.changes.emplace_back(ProcessVouched{ref_to(process), std::nullopt});
    const bool is_working = process.row.activity.activity == ProcessActivity::working;
    follow_session(decision, process, is_working, state);
    return decision;
}

Decision decide_background(const LiveSession& live, const State& state) {
    Decision decision;
    follow_background(decision, live, state.processes().counting_of(live.id()), state);
    return decision;
}

Decided<NotedReply> decide_on(ProcessGone&& gone, const Session* past, const State& state) {
    const auto* process = state.processes().find(gone.process);
    if (process == nullptr) {
        // Not on record, or no longer: nobody has to keep what is left of it.
        auto decision = reply_with(NotedReply{0});
        decision.effects.emplace_back(UnwatchProcess{{}, std::move(gone.process)});
        return decision;
    }
    auto decision = reply_with(NotedReply{1});
    auto row = process->row;
    row.exit = exit_of(*process, gone, state);
    decision.changes.emplace_back(ProcessEnded{ref_to(*process), *row.exit});
    decision.effects.emplace_back(UnwatchProcess{row.id, row.process, row.session_id, row.task_id});
    decision.events.push_back(process_event(EventType::process_exit, row, past, state));
    follow_session(decision, *process, /*counts=*/false, state);
    return decision;
}

/// Nobody goes on with that stop, also not the next daemon: a row that went on reading as being
/// stopped would say what is not so.
Decided<NotedReply> decide_on(ProcessNotStopped&& left, const Session*, const State& state) {
    const auto* process = state.processes().find(left.process_id);
    const bool is_wanted = process != nullptr && process->row.process == left.process &&
                           process->row.stop_asked_at.has_value();
    if (!is_wanted) return reply_with(NotedReply{0});
    auto decision = reply_with(NotedReply{1});
    decision.changes.emplace_back(ProcessStopAsked{
        ref_to(*process), std::nullopt,
        fmt::format("{}; {} had asked for it", left.why, process->row.stop_asked_by)});
    return decision;
}

Decided<NotedReply> decide_on(ProcessActive&& active, const Session* past, const State& state) {
    const auto* process = state.processes().find(active.process_id);
    // That it is over its watch says, who knows how.
    if (process == nullptr || active.facts.activity == ProcessActivity::exited) {
        return reply_with(NotedReply{0});
    }
    auto decision = reply_with(NotedReply{1});
    const auto& before = process->row;
    const bool is_working = active.facts.activity == ProcessActivity::working;
    const bool is_stale = active.stale && !is_working;
    const bool became_stale = is_stale && !before.stale_since;
    const bool is_news = active.facts.activity != before.activity.activity ||
                         is_stale != before.stale_since.has_value();
    if (!is_news) return decision;
    auto row = before;
    row.activity = std::move(active.facts);
    row.stale_since = is_stale ? before.stale_since.value_or(state.time_for(*process))
                               : std::optional<WallTime>{};
    decision.changes.emplace_back(ProcessMarked{ref_to(*process), row.activity, row.stale_since});
    if (became_stale) {
        decision.events.push_back(process_event(EventType::process_stale, row, past, state));
    }
    follow_session(decision, *process, is_working || row.vouched_until, state);
    return decision;
}

}  // namespace knell
