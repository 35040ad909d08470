#include "engine/decide.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace knell {

namespace {

Decision refuse(Error error) { return {std::unexpected(std::move(error)), {}, {}}; }

Error not_found(const SessionId& id) {
    return {ErrorCode::not_found,
            fmt::format("no session {}; `knell ls --all` lists what there is", id.text()), {}, {}};
}

Error has_ended(const Session& past, std::string_view next_step) {
    return {ErrorCode::ended,
            fmt::format("session {} ended at {} ({}); {}", past.id.text(),
                        format_rfc3339(past.end->ended_at), name_of(past.end->reason), next_step),
            {},
            EndedAs{past.end->reason, past.end->ended_at, past.generation}};
}

Error owned_by(const LiveSession& live, const Realms& realms) {
    const auto owner = live.owner(realms);
    const auto who = owner.kind == OwnerKind::process
                         ? fmt::format("process {}", owner.process.pid)
                         : fmt::format("a lease of {} s", owner.lease_ttl.count());
    return {ErrorCode::owned,
            fmt::format("session {} is owned by {} on {} since {}; attach to it, take it over "
                        "(takeover: true) or fork it",
                        live.id(), who, owner.host, format_rfc3339(owner.since)),
            {},
            OwnedBy{owner, live.generation(), live.status()}};
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

/// The events of an end.  A turn that was on is over too, and says so first: the end is the last
/// event of its generation.
void tell_end(std::vector<Event>& events, const LiveSession& live, const End& end, WallTime now) {
    if (live.turn_since()) events.push_back(live.event(EventType::agent_end, now));
    auto event = live.event(EventType::session_end, now);
    event.end = end;
    events.push_back(std::move(event));
}

Event start_event(const Session& session, WallTime now) {
    Event event;
    event.type = EventType::session_start;
    event.time = now;
    event.session_id = session.id;
    event.session_key = session.key;
    event.generation = session.generation;
    event.platform = session.platform;
    event.user_id = session.user_id;
    event.source = session.source;
    event.parent_id = session.parent_id;
    event.relation = session.relation;
    event.started_at = session.owner.since;
    event.tally = session.tally;
    return event;
}

Decision decide_on(Create&& create, const Session* past, const State& state, WallTime now) {
    auto session = std::move(create.draft);
    if (const auto* live = state.find(session.id)) return refuse(owned_by(*live, state.realms()));
    if (past != nullptr) return refuse(has_ended(*past, "use session.resume to open it again"));

    const auto started = std::min(create.at.value_or(now), now);
    session.ordinal = state.heads().ordinal + 1;
    session.generation = 1;
    session.started_at = session.last_activity_at = session.owner.since = started;
    Decision decision{
        OpenedReply{session.id, 1, Status::idle, session.owner.lease_ttl}, {}, {}};
    decision.events.push_back(start_event(session, now));
    decision.changes.emplace_back(Opened{std::move(session)});
    return decision;
}

Decision take_over(Resume&& resume, const LiveSession& live, WallTime now) {
    End end{Reason::superseded, "takeover", "session.resume with takeover by " + resume.said_by,
            now, now, now};
    resume.owner.since = now;
    Reopened change{resume.session_id, live.ordinal(),           live.generation() + 1, resume.owner,
                    resume.on_owner_loss, live.fold(/*ended=*/false), now, {}};
    Decision decision{OpenedReply{resume.session_id, change.generation, Status::idle,
                                  change.owner.lease_ttl},
                      {},
                      {}};
    tell_end(decision.events, live, end, now);
    auto start = live.event(EventType::session_start, now);
    start.generation = change.generation;
    start.started_at = now;
    decision.events.push_back(std::move(start));
    decision.changes.emplace_back(std::move(change));
    return decision;
}

Decision decide_on(Resume&& resume, const Session* past, const State& state, WallTime now) {
    if (const auto* live = state.find(resume.session_id)) {
        if (!resume.takeover) return refuse(owned_by(*live, state.realms()));
        return take_over(std::move(resume), *live, now);
    }
    if (past == nullptr) return refuse(not_found(resume.session_id));

    Session opened = *past;
    opened.end.reset();
    opened.turn_since.reset();
    opened.generation = past->generation + 1;
    opened.owner = std::move(resume.owner);
    opened.owner.since = now;
    Decision decision{
        OpenedReply{opened.id, opened.generation, Status::idle, opened.owner.lease_ttl}, {}, {}};
    decision.events.push_back(start_event(opened, now));
    decision.changes.emplace_back(Reopened{opened.id, opened.ordinal, opened.generation,
                                           opened.owner, resume.on_owner_loss, fold_of(opened), now,
                                           *past});
    return decision;
}

Decision decide_on(Append&& append, const Session* past, const State& state, WallTime now) {
    const auto live = writable(append.session_id, append.generation, past, state);
    if (!live) return refuse(live.error());
    auto tally = (*live)->tally();
    for (const auto& message : append.messages) count(tally, message);
    const auto first = (*live)->tally().messages + 1;
    Decision decision{AppendedReply{append.session_id, append.generation, tally}, {}, {}};
    decision.changes.emplace_back(Appended{std::move(append.session_id), (*live)->ordinal(),
                                           append.generation, first, std::move(append.messages),
                                           tally, now});
    return decision;
}

Decision decide_on(Close&& close, const Session* past, const State& state, WallTime now) {
    const auto* live = state.find(close.session_id);
    if (live == nullptr) {
        if (past == nullptr) return refuse(not_found(close.session_id));
        if (close.generation && *close.generation != past->generation) {
            return refuse(fenced(past->id, *close.generation, past->generation));
        }
        return {ClosedReply{past->id, past->generation, *past->end, /*already_ended=*/true}, {}, {}};
    }
    if (close.generation && *close.generation != live->generation()) {
        return refuse(fenced(close.session_id, *close.generation, live->generation()));
    }
    const auto ended = std::min(close.at.value_or(now), now);
    End end{close.reason, std::move(close.detail), "session.close by " + close.said_by,
            ended,        ended,                   ended};
    Decision decision{ClosedReply{close.session_id, live->generation(), end, false}, {}, {}};
    tell_end(decision.events, *live, end, now);
    decision.changes.emplace_back(Ended{std::move(close.session_id), live->ordinal(),
                                        live->generation(), std::move(end),
                                        live->fold(/*ended=*/true)});
    return decision;
}

Decision decide_on(Turn&& turn, const Session* past, const State& state, WallTime now) {
    const auto live = writable(turn.session_id, turn.generation, past, state);
    if (!live) return refuse(live.error());
    const bool was_on = (*live)->turn_since().has_value();
    const auto status = turn.on ? Status::running : Status::idle;
    Decision decision{TurnReply{turn.session_id, turn.generation, status, was_on != turn.on}, {}, {}};
    if (was_on == turn.on) return decision;
    decision.events.push_back(
        (*live)->event(turn.on ? EventType::agent_start : EventType::agent_end, now));
    decision.changes.emplace_back(TurnSet{std::move(turn.session_id), (*live)->ordinal(),
                                          turn.generation,
                                          turn.on ? std::optional(now) : std::nullopt, now});
    return decision;
}

}  // namespace

Decision decide(Command&& command, const Session* past, const State& state, WallTime now) {
    return std::visit(
        [&](auto&& c) { return decide_on(std::forward<decltype(c)>(c), past, state, now); },
        std::move(command));
}

}  // namespace knell
