#include "engine/decide.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "engine/end_events.hpp"

namespace knell {

namespace {

Decision answer(Result<Reply> reply) {
    return {.reply = std::move(reply)};
}
Decision refuse(Error error) {
    return answer(std::unexpected(std::move(error)));
}

Error not_found(const SessionId& id) {
    return {ErrorCode::not_found,
            fmt::format("no session {}; `knell ls --all` lists what there is", id.text()),
            {},
            {}};
}

Error has_ended(const Session& past, std::string_view next_step) {
    return {ErrorCode::ended,
            fmt::format("session {} ended at {} ({}); {}", past.id.text(),
                        format_rfc3339(past.end->ended_at), name_of(past.end->reason), next_step),
            {},
            EndedAs{past.end->reason, past.end->ended_at, past.generation, past.owner.process}};
}

std::string how_known(const LiveSession& live, const State& state) {
    if (live.unknown_since()) return "cannot be checked";
    if (live.owner_kind() == OwnerKind::lease) {
        return "its lease was renewed at " + format_rfc3339(live.last_seen_at());
    }
    const auto* owner = state.owner_of(live);
    return owner != nullptr && owner->watched ? "its process is watched" : "its process was there";
}

Error owned_by(const LiveSession& live, const State& state) {
    const auto owner = live.owner(state.realms());
    const auto who = owner.kind == OwnerKind::process
                         ? fmt::format("process {}", owner.process.pid)
                         : fmt::format("a lease of {} s", owner.lease_ttl.count());
    const auto known = how_known(live, state);
    return {ErrorCode::owned,
            fmt::format("session {} is owned by {} on {} since {} ({}); attach to it, take it over "
                        "(takeover: true) or fork it",
                        live.id(), who, owner.host, format_rfc3339(owner.since), known),
            {},
            OwnedBy{owner, live.generation(), live.status(), known}};
}

Error fenced(const SessionId& id, Generation given, Generation current) {
    return {ErrorCode::fenced,
            fmt::format("generation {} of session {} may not write: the session is at generation "
                        "{}; stop, or resume it to own it again",
                        given, id.text(), current),
            "generation", FencedBy{current}};
}

/// The live session a write is meant for, or why the write is refused.
std::expected<const LiveSession*, Error> writable(const SessionId& id, Generation generation,
                                                  const Session* past, const State& state) {
    const auto* live = state.find(id);
    if (live == nullptr) {
        if (past == nullptr) return std::unexpected(not_found(id));
        return std::unexpected(has_ended(*past, "resume it to write to it"));
    }
    if (generation != live->generation()) {
        return std::unexpected(fenced(id, generation, live->generation()));
    }
    return live;
}

/// Whoever writes or beats is alive: no doubt is left.
void clear_doubt(Decision& decision, const SessionId& id, const LiveSession& live) {
    if (!live.unknown_since() && !live.stalled_since()) return;
    decision.changes.emplace_back(DoubtSet{id, live.ordinal(), live.generation(), {}, {}});
}

OpenedReply opened_reply(const SessionId& id, Generation generation, const Owner& owner) {
    return {id, generation, Status::idle, owner.lease_ttl};
}

End end_of(const Close& close, WallTime now) {
    End end;
    end.reason = close.reason;
    end.detail = close.detail;
    end.evidence = "session.close by " + close.said_by;
    end.ended_at = end.ended_after = end.ended_before = std::min(close.at.value_or(now), now);
    end.leftovers = close.leftovers;
    return end;
}

/// What was opened in this decision is over already.
void close_at_once(Decision& decision, const Session& opened, const Close& close, WallTime now) {
    Realms realms;
    end_session(decision, EndPath::spooled, LiveSession(opened, realms), end_of(close, now), now);
}

Decision decide_on(Create&& create, const Session* past, const State& state) {
    const auto now = state.now().wall;
    auto session = std::move(create.draft);
    if (const auto* live = state.find(session.id)) return refuse(owned_by(*live, state));
    if (past != nullptr) return refuse(has_ended(*past, "use session.resume to open it again"));

    const auto started = std::min(create.at.value_or(now), now);
    session.ordinal = state.heads().ordinal + 1;
    session.generation = 1;
    session.started_at = session.last_activity_at = session.last_seen_at = started;
    session.owner.since = started;
    auto decision = answer(opened_reply(session.id, 1, session.owner));
    decision.events.push_back(start_event(session, now));
    decision.changes.emplace_back(Opened{session, create.reaper});
    if (create.and_close) close_at_once(decision, session, *create.and_close, now);
    return decision;
}

/// A live session changes hands: the old generation ends before the new one starts.
Decision change_owner(Resume&& resume, const LiveSession& live, const State& state) {
    const auto now = state.now().wall;
    End end;
    end.reason = Reason::superseded;
    end.detail = live.parked_since() ? "claimed" : "takeover";
    end.evidence = fmt::format("session.resume by {}", resume.said_by);
    end.ended_at = end.ended_after = end.ended_before = now;
    resume.owner.since = now;
    Reopened change{.id = resume.session_id,
                    .ordinal = live.ordinal(),
                    .generation = live.generation() + 1,
                    .owner = std::move(resume.owner),
                    .on_owner_loss = resume.on_owner_loss,
                    .park_window = resume.park_window,
                    .leftovers = resume.leftovers,
                    .fold = live.fold(std::nullopt),
                    .at = now,
                    .past = {},
                    .reaper = resume.reaper};
    auto decision = answer(opened_reply(resume.session_id, change.generation, change.owner));
    tell_end(decision.events, live.parked_since() ? EndPath::claimed : EndPath::taken_over, live,
             end, now);
    auto start = live.event(EventType::session_start, now);
    start.generation = change.generation;
    start.started_at = now;
    decision.events.push_back(std::move(start));
    decision.changes.emplace_back(std::move(change));
    return decision;
}

Decision decide_on(Resume&& resume, const Session* past, const State& state) {
    if (const auto* live = state.find(resume.session_id)) {
        // A parked session has no owner to ask.
        if (!resume.takeover && !live->parked_since()) return refuse(owned_by(*live, state));
        return change_owner(std::move(resume), *live, state);
    }
    if (past == nullptr) return refuse(not_found(resume.session_id));

    const auto now = state.now().wall;
    Session opened = *past;
    opened.end.reset();
    opened.generation = past->generation + 1;
    opened.owner = std::move(resume.owner);
    opened.owner.since = std::min(resume.at.value_or(now), now);
    opened.leftovers = resume.leftovers;
    auto decision = answer(opened_reply(opened.id, opened.generation, opened.owner));
    decision.events.push_back(start_event(opened, now));
    decision.changes.emplace_back(Reopened{.id = opened.id,
                                           .ordinal = opened.ordinal,
                                           .generation = opened.generation,
                                           .owner = opened.owner,
                                           .on_owner_loss = resume.on_owner_loss,
                                           .park_window = resume.park_window,
                                           .leftovers = resume.leftovers,
                                           .fold = fold_of(opened),
                                           .at = now,
                                           .past = *past,
                                           .reaper = resume.reaper});
    if (resume.and_close) close_at_once(decision, opened, *resume.and_close, now);
    return decision;
}

Decision decide_on(Append&& append, const Session* past, const State& state) {
    const auto found = writable(append.session_id, append.generation, past, state);
    if (!found) return refuse(found.error());
    const auto& live = **found;
    auto tally = live.tally();
    for (const auto& message : append.messages) count(tally, message);
    auto decision = answer(AppendedReply{append.session_id, append.generation, tally});
    clear_doubt(decision, append.session_id, live);
    decision.changes.emplace_back(Appended{std::move(append.session_id), live.ordinal(),
                                           append.generation, live.tally().messages + 1,
                                           std::move(append.messages), tally, state.now().wall});
    return decision;
}

Decision decide_on(Close&& close, const Session* past, const State& state) {
    const auto* live = state.find(close.session_id);
    if (live == nullptr) {
        if (past == nullptr) return refuse(not_found(close.session_id));
        if (close.generation && *close.generation != past->generation) {
            return refuse(fenced(past->id, *close.generation, past->generation));
        }
        return answer(ClosedReply{past->id, past->generation, *past->end, /*already_ended=*/true});
    }
    if (close.generation && *close.generation != live->generation()) {
        return refuse(fenced(close.session_id, *close.generation, live->generation()));
    }
    const auto now = state.now().wall;
    auto end = end_of(close, now);
    order_stop(end, *live);
    auto decision = answer(ClosedReply{close.session_id, live->generation(), end, false});
    end_session(decision, EndPath::closed, *live, std::move(end), now);
    return decision;
}

Decision decide_on(Turn&& turn, const Session* past, const State& state) {
    const auto found = writable(turn.session_id, turn.generation, past, state);
    if (!found) return refuse(found.error());
    const auto& live = **found;
    const auto now = state.now().wall;
    const bool was_on = live.turn_since().has_value();
    const auto status = turn.on ? Status::running : Status::idle;
    auto decision = answer(TurnReply{turn.session_id, turn.generation, status, was_on != turn.on});
    clear_doubt(decision, turn.session_id, live);
    if (was_on == turn.on) {
        decision.renewals.push_back(std::move(turn.session_id));
        return decision;
    }
    decision.events.push_back(
        live.event(turn.on ? EventType::agent_start : EventType::agent_end, now));
    decision.changes.emplace_back(TurnSet{std::move(turn.session_id), live.ordinal(),
                                          turn.generation,
                                          turn.on ? std::optional(now) : std::nullopt, now});
    return decision;
}

Decision decide_on(Heartbeat&& heartbeat, const Session*, const State& state) {
    HeartbeatReply reply;
    Decision decision = answer(NotedReply{});
    for (auto& beat : heartbeat.beats) {
        const auto* live = state.find(beat.session_id);
        if (live == nullptr) {
            reply.ended.push_back(std::move(beat.session_id));
        } else if (live->generation() != beat.generation) {
            reply.fenced.push_back(std::move(beat.session_id));
        } else {
            clear_doubt(decision, beat.session_id, *live);
            decision.renewals.push_back(beat.session_id);
            reply.renewed.push_back(std::move(beat.session_id));
        }
    }
    decision.reply = std::move(reply);
    return decision;
}

/// The sessions of an owner that are commands, so that what they left behind can be looked for.
std::vector<FindLeftovers::Command> commands_of(const OwnerEntry& owner, const State& state) {
    std::vector<FindLeftovers::Command> commands;
    for (auto slot = owner.first; slot != LiveTable::none && commands.size() < owner.commands;
         slot = state.at(slot).owner_link().next) {
        const auto& live = state.at(slot);
        if (live.leftovers() == LeftoversPolicy::none) continue;
        commands.push_back({SessionId(std::string(live.id())), live.generation(), live.reaper()});
    }
    return commands;
}

Decision decide_on(OwnerGone&& gone, const Session*, const State& state) {
    const auto number = state.owners().find(gone.process);
    if (number == OwnerTable::none) return answer(NotedReply{0});
    const auto& owner = state.owners().at(number);
    auto decision = answer(NotedReply{owner.sessions});
    if (owner.gone) return decision;
    // With the boot everything else that ran in it is over, too.
    const bool may_leave = gone.departure.kind != Departure::Kind::host_restart;
    if (owner.commands > 0 && !gone.searched && may_leave) {
        decision.effects.emplace_back(
            FindLeftovers{gone.process, gone.departure, commands_of(owner, state)});
        return decision;
    }
    decision.gone = std::move(gone);
    return decision;
}

/// Fenced: of a generation that was opened again nobody asks any more.
Decision decide_on(SettleLeftovers&& settle, const Session* past, const State&) {
    auto decision = answer(NotedReply{0});
    if (past == nullptr || !past->end || past->generation != settle.generation) return decision;
    auto leftovers = past->end->leftovers;
    for (auto& leftover : leftovers) {
        const auto settled =
            std::ranges::find(settle.leftovers, leftover.process, &Leftover::process);
        const bool is_open = leftover.fate == Fate::stopping;
        if (is_open && settled != settle.leftovers.end()) leftover.fate = settled->fate;
    }
    if (leftovers == past->end->leftovers) return decision;
    decision.changes.emplace_back(LeftoversSettled{std::move(settle.session_id), past->ordinal,
                                                   past->generation, std::move(leftovers)});
    decision.reply = NotedReply{1};
    return decision;
}

/// Marks or clears the doubt about every session of a process.
Decision doubt_owner(const ProcessIdentity& process, std::optional<WallTime> unknown_since,
                     const std::string& why, const State& state) {
    const auto number = state.owners().find(process);
    if (number == OwnerTable::none) return answer(NotedReply{0});
    const auto& owner = state.owners().at(number);
    auto decision = answer(NotedReply{owner.sessions});
    for (auto slot = owner.first; slot != LiveTable::none;) {
        const auto& live = state.at(slot);
        slot = live.owner_link().next;
        if (live.unknown_since().has_value() == unknown_since.has_value()) continue;
        const SessionId id(std::string(live.id()));
        decision.changes.emplace_back(
            DoubtSet{id, live.ordinal(), live.generation(), unknown_since, live.stalled_since()});
        if (!unknown_since) continue;
        auto event = live.event(EventType::session_unknown, state.now().wall);
        event.detail = why;
        decision.events.push_back(std::move(event));
    }
    return decision;
}

Decision decide_on(OwnerUnknown&& unknown, const Session*, const State& state) {
    return doubt_owner(unknown.process, state.now().wall, unknown.why, state);
}

Decision decide_on(OwnerAlive&& alive, const Session*, const State& state) {
    return doubt_owner(alive.process, std::nullopt, {}, state);
}

Decision decide_on(Inspect&& inspect, const Session* past, const State& state) {
    const auto* live = state.find(inspect.session_id);
    if (live == nullptr) {
        if (past == nullptr) return refuse(not_found(inspect.session_id));
        return answer(InspectReply{});
    }
    InspectReply reply{.is_open = true, .is_watched = false, .due_in = {}, .last_seen_at = {}};
    const auto* owner = state.owner_of(*live);
    reply.is_watched = owner != nullptr && owner->watched;
    reply.last_seen_at = live->last_seen_at();
    if (live->deadline() != LiveSession::no_deadline) {
        reply.due_in = std::chrono::duration_cast<std::chrono::milliseconds>(
            std::max(live->deadline() - state.now().steady, std::chrono::nanoseconds{0}));
    }
    return answer(reply);
}

Decision decide_on(Survey&&, const Session*, const State& state) {
    SurveyReply reply;
    reply.leases = state.lease_count();
    reply.parked = state.count(Status::detached);
    std::size_t named = 0;
    state.owners().for_each([&](const OwnerEntry& entry) {
        SurveyReply::Owner owner{entry.process, entry.sessions, {}, false};
        for (auto slot = entry.first; slot != LiveTable::none && named < limits::sweep_report_max;
             slot = state.at(slot).owner_link().next, ++named) {
            const auto& live = state.at(slot);
            owner.named.push_back(
                {SessionId(std::string(live.id())), live.on_owner_loss() == OnOwnerLoss::park});
            owner.is_unknown = owner.is_unknown || live.unknown_since();
        }
        reply.owners.push_back(std::move(owner));
    });
    return answer(std::move(reply));
}

Decision decide_on(Announce&& announce, const Session*, const State& state) {
    auto decision = answer(NotedReply{});
    decision.events.push_back(
        node_event(announce.type, std::move(announce.detail), state.now().wall));
    return decision;
}

Decision decide_on(SaveDeliveries&& save, const Session*, const State&) {
    auto decision = answer(NotedReply{});
    decision.deliveries = std::move(save.changes);
    return decision;
}

}  // namespace

Decision decide(Command&& command, const Session* past, const State& state) {
    return std::visit(
        [&](auto&& c) { return decide_on(std::forward<decltype(c)>(c), past, state); },
        std::move(command));
}

}  // namespace knell
