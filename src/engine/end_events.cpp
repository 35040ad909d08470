#include "engine/end_events.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.hpp"
#include "engine/background.hpp"

namespace knell {

namespace {

bool is_on_record(const Leftover& leftover, const SessionId& id, const State& state) {
    const auto* process = state.processes().find(leftover.process_id);
    return process != nullptr && process->row.session_id == id;
}

/// What becomes of each that runs on, before anybody is told of the end.  Those on record are
/// stopped beside this, with everything below them, where a reset says so.
void settle(End& end, const LiveSession& live, const Aftermath& aftermath, const State& state) {
    const auto processes = aftermath.processes;
    const auto fate_of = [&](const Leftover& leftover) {
        const bool is_asked_for =
            processes != ProcessesAtEnd::by_leftovers && is_on_record(leftover, live.id(), state);
        if (!is_asked_for) {
            return live.leftovers() == LeftoversPolicy::stop ? Fate::stopping : Fate::left;
        }
        if (processes == ProcessesAtEnd::hand_over) return Fate::handed_over;
        const bool is_spared =
            std::ranges::find(aftermath.spared, leftover.process_id) != aftermath.spared.end();
        return processes == ProcessesAtEnd::leave || is_spared ? Fate::left : Fate::stopping;
    };
    for (auto& leftover : end.leftovers) {
        if (leftover.fate == Fate::left) leftover.fate = fate_of(leftover);
    }
}

}  // namespace

void keep_within_life(End& end, const LiveSession& live) {
    for (auto* time : {&end.ended_after, &end.ended_at, &end.ended_before}) {
        *time = std::max(*time, live.owner_since());
    }
}

void tell_parked_owner(End& end, const LiveSession& live) {
    if (!live.parked_since()) return;
    const auto since = format_rfc3339(*live.parked_since());
    if (live.park_why().empty() || !live.parked_before()) {
        end.evidence += fmt::format(
            "; it was parked: its owner was last there at {}, how it went is not on record", since);
        return;
    }
    end.evidence += fmt::format("; it was parked: its owner went between {} and {} ({})", since,
                                format_rfc3339(*live.parked_before()), live.park_why());
}

void tell_end(std::vector<Event>& events, EndPath path, const LiveSession& live, const End& end,
              const OwnerHosts& owner_hosts, WallTime now) {
    CHECK(leads_to(path, end.reason) && end.proof == row_of(path).proof);
    if (live.turn_since()) events.push_back(live.event(EventType::agent_end, now, owner_hosts));
    auto event = live.event(EventType::session_end, now, owner_hosts);
    event.end = end;
    events.push_back(std::move(event));
}

const End& end_session(Decision& decision, EndPath path, const LiveSession& live, End end,
                       const OwnerHosts& owner_hosts, WallTime now, const State& state,
                       Aftermath aftermath) {
    const auto id = live.id();
    keep_within_life(end, live);
    tell_parked_owner(end, live);
    name_processes(end.leftovers, id, state);
    settle(end, live, aftermath, state);
    const auto place = decision.changes.size();
    record_leftovers(decision, end.leftovers, live.event(EventType::notice, now, owner_hosts),
                     state);
    tell_end(decision.events, path, live, end, owner_hosts, now);
    if (has_unsettled(end.leftovers)) {
        decision.effects.emplace_back(StopLeftovers{id, live.generation(), end.leftovers});
    }
    if (!live.clients().empty() || !live.turn_clients().empty()) {
        decision.effects.emplace_back(ReleaseClients{id, live.generation()});
    }
    const auto fold = live.fold(end.reason);
    // What ended comes first, before what it left behind; what was said last only while it is open.
    auto at = decision.changes.begin() + static_cast<std::ptrdiff_t>(place);
    if (live.is_interaction_unsaved()) {
        at = decision.changes.insert(at, save_interaction(live, state)) + 1;
    }
    const auto ended = decision.changes.insert(at, Ended{{id, live.ordinal(), live.generation()},
                                                         std::move(end),
                                                         fold,
                                                         std::move(aftermath.successor)});
    return std::get<Ended>(*ended).end;
}

void tell_owner(Event& event, const Owner& owner) {
    event.command = owner.command;
    event.pid = owner.kind == OwnerKind::process ? owner.process.pid : 0;
    event.host = owner.host;
}

Event event_about(const Session& session, EventType type, WallTime time) {
    Event event;
    event.type = type;
    event.time = time;
    event.session_id = session.id;
    event.session_key = session.key;
    event.generation = session.generation;
    event.platform = session.platform;
    event.user_id = session.user_id;
    event.source = session.source;
    event.parent_id = session.parent_id;
    event.relation = session.relation;
    event.title = session.title;
    event.cwd = session.cwd;
    tell_owner(event, session.owner);
    event.started_at = session.owner.since;
    event.tally = session.tally;
    return event;
}

Event node_event(EventType type, std::string detail, WallTime now) {
    Event event;
    event.type = type;
    event.time = now;
    event.detail = std::move(detail);
    return event;
}

}  // namespace knell
