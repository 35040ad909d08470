// A conversation is to begin anew: by policy, by a person, or with the next message.

#include <algorithm>

#include <fmt/format.h>

#include "base/check.hpp"
#include "core/route_rules.hpp"
#include "engine/blockers.hpp"
#include "engine/decide_on.hpp"
#include "engine/refusals.hpp"
#include "engine/reset_end.hpp"

namespace knell {

namespace {

std::vector<ProcessId> ids_of(const std::vector<Blocker>& blockers) {
    std::vector<ProcessId> ids;
    for (const auto& blocker : blockers) ids.push_back(blocker.process_id);
    std::ranges::sort(ids);
    return ids;
}

SessionRef ref_to(const LiveSession& live) {
    return {live.id(), live.ordinal(), live.generation()};
}

/// `tip`: what the store has of that key, if memory has no open session of it.  It is open where
/// the key's own was replaced by one that somebody opened without the key.
const LiveSession* find(const SessionName& name, const Session* tip, const State& state) {
    if (!name.session_id.empty()) return state.find(name.session_id);
    const auto* live = state.find_by_key(name.key);
    return live == nullptr && tip != nullptr && !tip->end ? state.find(tip->id) : live;
}

Error none_of(const SessionName& name) {
    if (!name.session_id.empty()) return not_found(name.session_id);
    return {
        ErrorCode::not_found,
        fmt::format("no session has the key {}; `knell ls --all` lists what there is", name.key),
        "key",
        {}};
}

Error held_by(const SessionId& id, std::vector<Blocker> blockers, WallTime now) {
    return {ErrorCode::blocked,
            fmt::format("session {} is not reset: {} {} in it: {}; wait, stop what runs (`knell "
                        "stop ID`), or reset it all the same with force: true (`knell reset "
                        "--force`)",
                        id.text(), blockers.size(),
                        blockers.size() == 1 ? "process works" : "processes work",
                        describe(blockers, now)),
            {},
            BlockedBy{std::move(blockers)}};
}

Event deferred(Event event, ResetKind kind, const ResetPolicy& policy,
               std::vector<Blocker> blockers) {
    event.detail = fmt::format(
        "{}: its reset by {} is due and held back by {}, until {} at the latest, or "
        "until a message puts it off",
        reset_word(kind), policy.name, describe(blockers, event.time),
        format_rfc3339(last_let_go(blockers).value_or(event.time)));
    event.blockers = std::move(blockers);
    return event;
}

}  // namespace

void defer_reset(Decision& decision, const LiveSession& live, ResetKind kind,
                 std::vector<Blocker> blockers, const State& state) {
    const auto now = state.time_for(live);
    decision.changes.emplace_back(ResetHeld{ref_to(live), live.reset_held_since().value_or(now),
                                            ids_of(blockers), first_let_go(blockers)});
    tell_deferred(decision, live, kind, std::move(blockers), state);
}

void tell_deferred(Decision& decision, const LiveSession& live, ResetKind kind,
                   std::vector<Blocker> blockers, const State& state) {
    // Once for each set of them.
    if (live.reset_held_since() && ids_of(blockers) == live.reset_held_by()) return;
    const auto now = state.time_for(live);
    decision.events.push_back(
        deferred(live.event(EventType::session_reset_deferred, now, state.owner_hosts()), kind,
                 state.policy_of(live), std::move(blockers)));
}

void tell_deferred_of_reopened(Decision& decision, ResetKind kind, const ResetPolicy& policy,
                               std::vector<Blocker> blockers) {
    const auto opened = std::ranges::find(decision.events, EventType::session_start, &Event::type);
    CHECK(opened != decision.events.end());
    auto event = *opened;
    event.type = EventType::session_reset_deferred;
    decision.events.push_back(deferred(std::move(event), kind, policy, std::move(blockers)));
}

void let_go_of_reset(Decision& decision, const LiveSession& live) {
    if (!live.reset_held_since()) return;
    decision.changes.emplace_back(ResetHeld{ref_to(live), std::nullopt, {}});
}

Decision decide_reset(const LiveSession& live, const State& state) {
    Decision decision;
    const auto kind = state.reset_due(live);
    if (!kind) {
        let_go_of_reset(decision, live);
        return decision;
    }
    auto blockers = blockers_by_policy(live.id(), state.policy_of(live), state);
    if (!blockers.empty()) {
        defer_reset(decision, live, *kind, std::move(blockers), state);
        return decision;
    }
    const auto path = *kind == ResetKind::idle ? EndPath::idle_too_long : EndPath::day_is_over;
    end_by_reset(decision, path, live, end_by_policy(path, live, kind, state), {}, state);
    return decision;
}

Decided<Reset::Reply> decide_on(Reset&& reset, const Session* past, const State& state) {
    const auto* live = find(reset.name, past, state);
    if (live == nullptr) {
        if (past == nullptr) return refuse(none_of(reset.name));
        if (!past->successor_id.empty()) return refuse(has_ended(*past, {}));
        auto blockers = blockers_of_person(past->id, state);
        if (goes_on(past->end->reason) && !blockers.empty() && !reset.force) {
            return refuse(held_by(past->id, std::move(blockers), state.now().wall));
        }
        auto decision = reply_with(ResetReply{
            ClosedReply{past->id, past->generation, *past->end, /*already_ended=*/true}});
        // The next message would go on with it: a person does not want that.
        if (goes_on(past->end->reason) && !past->suspended_at) {
            decision.reply->is_suspended = true;
            decision.changes.emplace_back(
                Suspended{{past->id, past->ordinal, past->generation},
                          std::max(state.now().wall, past->end->ended_before),
                          "session.reset by " + reset.said_by});
        }
        return decision;
    }
    const auto now = state.time_for(*live);
    auto blockers = blockers_of_person(live->id(), state);
    if (!blockers.empty() && !reset.force) {
        return refuse(held_by(live->id(), std::move(blockers), now));
    }
    if (auto gone = departed(*live, state)) {
        auto decision =
            reply_with(ResetReply{ClosedReply{live->id(), live->generation(), {}, true}});
        decision.changes.emplace_back(
            Suspended{ref_to(*live), now, "session.reset by " + reset.said_by});
        decision.reply->is_suspended = true;
        decision.reply->closed.end = end_session(decision, gone->path, *live, std::move(gone->end),
                                                 state.owner_hosts(), now, state);
        return decision;
    }
    End end;
    end.reason = Reason::manual_reset;
    end.proof = row_of(EndPath::reset_by_person).proof;
    end.evidence = "session.reset by " + reset.said_by;
    if (!blockers.empty()) end.evidence += ", forced over " + describe(blockers, now);
    end.ended_at = end.ended_after = end.ended_before = now;
    auto decision = reply_with(ResetReply{ClosedReply{live->id(), live->generation(), {}, false}});
    decision.reply->closed.end =
        end_by_reset(decision, EndPath::reset_by_person, *live, std::move(end), {}, state);
    return decision;
}

Decided<Suspend::Reply> decide_on(Suspend&& suspend, const Session* past, const State& state) {
    const auto* live = find(suspend.name, past, state);
    if (live == nullptr && past == nullptr) return refuse(none_of(suspend.name));
    if (live == nullptr && !past->successor_id.empty()) return refuse(has_ended(*past, {}));
    const auto ref =
        live != nullptr ? ref_to(*live) : SessionRef{past->id, past->ordinal, past->generation};
    auto decision = reply_with(SuspendedReply{ref.id, ref.generation, /*changed=*/false});
    const bool is_suspended =
        live != nullptr ? live->suspended_at().has_value() : past->suspended_at.has_value();
    // Nobody goes on with what was meant to end.
    if (is_suspended || (live == nullptr && !goes_on(past->end->reason))) return decision;
    decision.reply->changed = true;
    const auto at = live != nullptr ? state.time_for(*live)
                                    : std::max(state.now().wall, past->end->ended_before);
    auto why = suspend.why.empty()
                   ? "session.suspend by " + suspend.said_by
                   : fmt::format("{} (session.suspend by {})", suspend.why, suspend.said_by);
    decision.changes.emplace_back(Suspended{ref, at, std::move(why)});
    return decision;
}

}  // namespace knell
