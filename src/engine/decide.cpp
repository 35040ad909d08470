#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "engine/decide_on.hpp"
#include "engine/end_events.hpp"
#include "engine/refusals.hpp"

namespace knell {

namespace {

/// Its owner was seen to go, and the session is about to end by that: its `knell run` is given a
/// moment to say how, and what it left behind is looked for; or its end is not written yet, because
/// words that came with it are decided first or the store refused it.  Nothing otherwise.
/// `was_searched`: whoever asks has looked for that.
std::optional<Departed> departed(const LiveSession& live, const State& state,
                                 bool was_searched = false) {
    const auto* owner = state.owner_of(live);
    if (owner == nullptr || live.on_owner_loss() != OnOwnerLoss::end) return {};
    if (!owner->leaving && !owner->gone) return {};
    auto departed = end_of_departed(live, *owner, state);
    if (owner->leaving && !was_searched) {
        departed.end.evidence += "; what it left behind was not looked for any more";
    }
    return departed;
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
    if (live->parked_since()) return std::unexpected(unowned(*live));
    if (const auto gone = departed(*live, state)) {
        return std::unexpected(ended_just_now(*live, gone->end, state));
    }
    return live;
}

/// Whoever writes or beats makes progress, and of a lease that is all there is to know.  Whether a
/// process can be checked only a look at it tells.
void clear_uncertainty(Decision& decision, const SessionId& id, const LiveSession& live) {
    const auto unknown =
        live.owner_kind() == OwnerKind::lease ? std::nullopt : live.unknown_since();
    if (live.unknown_since() == unknown && !live.stalled_since()) return;
    decision.changes.emplace_back(
        LivenessMarked{id, live.ordinal(), live.generation(), unknown, {}});
}

/// The first sign of life that this daemon hears of a lease: from here on it has its full time
/// again after the next restart, so this must not be lost in one.
void keep_first_sign(Decision& decision, const SessionId& id, const LiveSession& live,
                     const State& state) {
    if (!live.is_silent_since_start()) return;
    decision.changes.emplace_back(
        Seen{id, live.ordinal(), live.generation(), state.seen_at(live), state.heard().steady});
}

/// What was just opened, as the last event tells, may have an owner that cannot be checked.  That
/// is known from the owner's other sessions, and nobody will say it again.
void mark_uncertain_if_known(Decision& decision, Ordinal ordinal, const Owner& owner,
                             const State& state) {
    if (owner.kind != OwnerKind::process) return;
    const auto number = state.owners().find(owner.process);
    if (number == OwnerTable::none || !state.owners().at(number).unclear) return;
    auto event = decision.events.back();
    event.type = EventType::session_unknown;
    event.detail = "its owner cannot be checked, as before";
    decision.changes.emplace_back(
        LivenessMarked{event.session_id, ordinal, event.generation, event.time, std::nullopt});
    decision.events.push_back(std::move(event));
    std::get<OpenedReply>(*decision.reply).status = Status::unknown;
}

/// What it is once it is opened: nothing is on and nothing in doubt, unless it is over already.
OpenedReply opened_reply(const SessionId& id, Generation generation, const Owner& owner,
                         bool is_over) {
    return {id, generation, status_of(StatusFacts{.ended = is_over}), owner.lease_ttl};
}

/// Whether a close is the word of somebody who saw it, or a claim.
EndPath path_of(const Close& close, const LiveSession& live) {
    const bool saw = close.is_over && close.caller && live.leftovers() != LeftoversPolicy::none &&
                     (close.by_parent || live.is_parent(*close.caller)) &&
                     leads_to(EndPath::waited_for, close.reason);
    return saw ? EndPath::waited_for : EndPath::closed;
}

End end_of(const Close& close, EndPath path, WallTime now) {
    End end;
    end.reason = close.reason;
    end.proof = row_of(path).proof;
    end.detail = close.detail;
    end.evidence = path == EndPath::waited_for
                       ? fmt::format("{}, the command's parent, waited for it", close.said_by)
                       : "session.close by " + close.said_by;
    end.ended_at = end.ended_after = end.ended_before = std::min(close.at.value_or(now), now);
    end.leftovers = close.leftovers;
    return end;
}

/// Whether a close tells how a command ended.  That was so before anybody said it, also where the
/// wrapper is not known as its parent: an earlier daemon knew, or the word comes from the spool.
bool tells_of_a_command(const Close& close, const LiveSession& live) {
    return live.leftovers() != LeftoversPolicy::none && leads_to(EndPath::waited_for, close.reason);
}

/// Somebody tells of an exit that was some time ago: after the last look that found the command,
/// and before its end was seen here, if it was.
void bound_by_what_was_seen(End& end, const LiveSession& live, const State& state) {
    const auto* owner = state.owner_of(live);
    if (owner == nullptr) {
        // Nobody looks at it.  A renewal may have been read long after it was sent: that the
        // command began is all there is to know.
        end.ended_after = std::min(live.owner_since(), end.ended_before);
        return;
    }
    // The watch vouches for those that it can check.
    const bool uncertain = owner->unclear || live.unknown_since();
    auto last_look = uncertain ? std::nullopt : state.vouched_until();
    if (owner->leaving || owner->gone) {
        last_look = owner->departure.last_look;
        end.ended_before =
            std::min(end.ended_before, state.latest_for(live, owner->departure.seen_at));
    }
    const auto known = last_look ? state.earliest_for(live, last_look) : live.owner_since();
    end.ended_after = std::min(known, end.ended_before);
    end.ended_at = std::clamp(end.ended_at, end.ended_after, end.ended_before);
}

/// What was opened in this decision is over already.
void close_at_once(Decision& decision, const Session& opened, const Close& close, WallTime now) {
    OwnerHosts owner_hosts;
    const LiveSession live(opened, owner_hosts, std::chrono::milliseconds{0});
    auto end = end_of(close, EndPath::spooled, now);
    // The wrapper wrote when it had waited for the command, and nobody looked in between.
    end.ended_after = std::min(opened.owner.since, end.ended_before);
    end_session(decision, EndPath::spooled, live, std::move(end), now);
}

Decision decide_on(Create&& create, const Session* past, const State& state) {
    const auto now = state.now().wall;
    auto session = std::move(create.draft);
    if (const auto* live = state.find(session.id)) {
        // Nobody owns it any more: whoever starts its command again need not wait for the record.
        if (const auto gone = departed(*live, state)) {
            return refuse(ended_just_now(*live, gone->end, state));
        }
        return refuse(owned_by(*live, state));
    }
    if (past != nullptr) return refuse(has_ended(*past, "use session.resume to open it again"));
    if (create.is_own_ancestor) {
        return refuse(Error{ErrorCode::invalid_params,
                            fmt::format("parent_id: session {} comes out of session {} itself; "
                                        "name another parent",
                                        session.parent_id.text(), session.id.text()),
                            "parent_id",
                            {}});
    }

    // Its owner was looked at when the call arrived, and may be gone when its turn comes.
    const auto started = std::min(create.at.value_or(state.heard_at()), now);
    session.ordinal = state.heads().ordinal + 1;
    session.generation = 1;
    session.started_at = session.last_activity_at = session.last_seen_at = started;
    session.owner.since = started;
    if (session.owner.lease_ttl.count() > 0) session.lease_from = state.now().steady;
    auto decision =
        answer(opened_reply(session.id, 1, session.owner, create.and_close.has_value()));
    decision.events.push_back(start_event(session, now));
    decision.changes.emplace_back(Opened{session, create.reaper, create.reaper_is_parent});
    if (create.and_close) {
        close_at_once(decision, session, *create.and_close, now);
    } else {
        mark_uncertain_if_known(decision, session.ordinal, session.owner, state);
    }
    return decision;
}

/// The owners before, with the one that goes: only processes can be told apart when they call.
std::vector<ProcessIdentity> with_former(std::vector<ProcessIdentity> former, const Owner& last) {
    if (last.kind == OwnerKind::process) {
        std::erase(former, last.process);
        former.push_back(last.process);
    }
    if (former.size() > limits::former_owners_max) former.erase(former.begin());
    return former;
}

/// A live session changes hands: the old generation ends before the new one starts.
Decision change_owner(Resume&& resume, const LiveSession& live, const State& state) {
    const auto now = state.time_for(live);
    End end;
    end.reason = Reason::superseded;
    end.proof = row_of(EndPath::taken_over).proof;
    end.detail = live.parked_since() ? "claimed" : "takeover";
    end.evidence = fmt::format("session.resume by {}", resume.said_by);
    end.ended_at = end.ended_after = end.ended_before = now;
    auto path = live.parked_since() ? EndPath::claimed : EndPath::taken_over;
    // Taken from nobody: what was seen of its owner is what ended it.
    if (auto gone = departed(live, state)) std::tie(path, end) = std::tie(gone->path, gone->end);
    keep_within_life(end, live);
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
                    .reaper = resume.reaper,
                    .reaper_is_parent = resume.reaper_is_parent,
                    .former_owners = with_former(
                        live.former_owners() ? *live.former_owners() : LiveSession::Processes{},
                        live.owner(state.owner_hosts())),
                    .lease_from = state.now().steady};
    auto decision =
        answer(opened_reply(resume.session_id, change.generation, change.owner, /*is_over=*/false));
    tell_end(decision.events, path, live, end, now);
    auto start = live.event(EventType::session_start, now);
    start.generation = change.generation;
    start.started_at = now;
    decision.events.push_back(std::move(start));
    const auto owner = change.owner;
    decision.changes.emplace_back(std::move(change));
    mark_uncertain_if_known(decision, live.ordinal(), owner, state);
    return decision;
}

Decision decide_on(Resume&& resume, const Session* past, const State& state) {
    if (const auto* live = state.find(resume.session_id)) {
        // A parked session has no owner to ask, nor has one that is about to end.
        const bool is_owned = !live->parked_since() && !departed(*live, state);
        if (!resume.takeover && is_owned) return refuse(owned_by(*live, state));
        return change_owner(std::move(resume), *live, state);
    }
    if (past == nullptr) return refuse(not_found(resume.session_id));

    // Not before the life before it was over, however far back the clock was set since.
    const auto now = std::max(state.now().wall, past->end->ended_before);
    Session opened = *past;
    opened.end.reset();
    opened.generation = past->generation + 1;
    opened.owner = std::move(resume.owner);
    opened.owner.since = std::min(resume.at.value_or(now), now);
    opened.leftovers = resume.leftovers;
    auto decision = answer(
        opened_reply(opened.id, opened.generation, opened.owner, resume.and_close.has_value()));
    decision.events.push_back(start_event(opened, now));
    decision.changes.emplace_back(Reopened{
        .id = opened.id,
        .ordinal = opened.ordinal,
        .generation = opened.generation,
        .owner = opened.owner,
        .on_owner_loss = resume.on_owner_loss,
        .park_window = resume.park_window,
        .leftovers = resume.leftovers,
        .fold = fold_of(opened),
        // One that is over already has done nothing since.
        .at = resume.and_close ? std::max(opened.owner.since, past->end->ended_before) : now,
        .past = *past,
        .reaper = resume.reaper,
        .reaper_is_parent = resume.reaper_is_parent,
        .former_owners = with_former(past->former_owners, past->owner),
        .lease_from = state.now().steady});
    if (resume.and_close) {
        close_at_once(decision, opened, *resume.and_close, now);
    } else {
        mark_uncertain_if_known(decision, opened.ordinal, opened.owner, state);
    }
    return decision;
}

Decision decide_on(Append&& append, const Session* past, const State& state) {
    const auto found = writable(append.session_id, append.generation, past, state);
    if (!found) return refuse(found.error());
    const auto& live = **found;
    auto tally = live.tally();
    for (const auto& message : append.messages) count(tally, message);
    auto decision = answer(AppendedReply{append.session_id, append.generation, tally});
    clear_uncertainty(decision, append.session_id, live);
    keep_first_sign(decision, append.session_id, live, state);
    decision.changes.emplace_back(Appended{std::move(append.session_id), live.ordinal(),
                                           append.generation, live.tally().messages + 1,
                                           std::move(append.messages), tally, state.seen_at(live)});
    return decision;
}

/// Whether the process owned an earlier generation, and not this one.
bool was_owned_by(const LiveSession& live, const ProcessIdentity& process, const State& state) {
    const auto& former = live.former_owners();
    if (!former || std::ranges::find(*former, process) == former->end()) return false;
    const auto owner = live.owner(state.owner_hosts());
    return owner.kind != OwnerKind::process || owner.process != process;
}

/// Whether a `knell run`, which nothing proves to be the command's parent any more or which wrote
/// its word down, says how a command ended of which was seen only that it is gone.
bool knows_more(const Close& close, const End& seen, const LiveSession& live) {
    const bool is_wrappers = close.is_over || close.at;
    return is_wrappers && seen.reason == Reason::owner_lost && tells_of_a_command(close, live);
}

/// What asked a command to end only its `knell run` knows, and its word may come when nothing
/// proves any more that it was the parent.  It says nothing against what was seen.
void take_what_asked(End& seen, const Close& close) {
    if (seen.detail.empty() || !close.detail.starts_with(seen.detail + " after ")) return;
    seen.detail = close.detail;
    seen.evidence += fmt::format("; what asked it to end is the word of {}", close.said_by);
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
    for (const auto& speaker : {close.caller, close.spoken_for}) {
        if (close.generation || !speaker || !was_owned_by(*live, *speaker, state)) continue;
        return refuse(fenced_former(*live, *speaker));
    }
    const auto now = state.time_for(*live);
    const auto path = path_of(close, *live);
    if (auto gone = departed(*live, state, close.was_searched);
        gone && path != EndPath::waited_for && !knows_more(close, gone->end, *live)) {
        // Too late: it has ended already, and how is known better than by somebody's word.
        if (close.was_searched) gone->end.leftovers = close.leftovers;
        take_what_asked(gone->end, close);
        order_stop(gone->end, *live);
        auto decision = answer(ClosedReply{close.session_id, live->generation(), gone->end, true});
        end_session(decision, gone->path, *live, std::move(gone->end), now);
        return decision;
    }
    auto end = end_of(close, path, now);
    if (tells_of_a_command(close, *live)) {
        bound_by_what_was_seen(end, *live, state);
        if (live->owner_kind() == OwnerKind::lease) {
            end.evidence +=
                "; what the command left running was not looked for: it cannot be seen from here";
        }
    }
    order_stop(end, *live);
    auto decision = answer(ClosedReply{close.session_id, live->generation(), end, false});
    end_session(decision, path, *live, std::move(end), now);
    return decision;
}

Decision decide_on(Turn&& turn, const Session* past, const State& state) {
    const auto found = writable(turn.session_id, turn.generation, past, state);
    if (!found) return refuse(found.error());
    const auto& live = **found;
    const auto now = state.time_for(live);
    const bool was_on = live.turn_since().has_value();
    // Whoever writes is not late any more; see clear_uncertainty.
    const bool unknown = live.owner_kind() == OwnerKind::process && live.unknown_since();
    const auto status = status_of(StatusFacts{.unknown = unknown, .turn = turn.on});
    auto decision = answer(TurnReply{turn.session_id, turn.generation, status, was_on != turn.on});
    clear_uncertainty(decision, turn.session_id, live);
    keep_first_sign(decision, turn.session_id, live, state);
    if (was_on == turn.on) {
        decision.renewals.push_back(std::move(turn.session_id));
        return decision;
    }
    decision.events.push_back(
        live.event(turn.on ? EventType::agent_start : EventType::agent_end, now));
    decision.changes.emplace_back(
        TurnSet{std::move(turn.session_id), live.ordinal(), turn.generation,
                turn.on ? std::optional(now) : std::nullopt, state.seen_at(live)});
    return decision;
}

Decision decide_on(Heartbeat&& heartbeat, const Session*, const State& state) {
    HeartbeatReply reply;
    Decision decision = answer(NotedReply{});
    for (auto& beat : heartbeat.beats) {
        const auto* live = state.find(beat.session_id);
        const bool is_current = live != nullptr && live->generation() == beat.generation;
        if (live == nullptr || (is_current && departed(*live, state))) {
            reply.ended.push_back(std::move(beat.session_id));
        } else if (live->generation() != beat.generation || live->parked_since()) {
            // A parked one has lost its owner: it must be claimed, beats do not keep it.
            reply.fenced.push_back(std::move(beat.session_id));
        } else {
            clear_uncertainty(decision, beat.session_id, *live);
            keep_first_sign(decision, beat.session_id, *live, state);
            decision.renewals.push_back(beat.session_id);
            reply.renewed.push_back(std::move(beat.session_id));
        }
    }
    decision.reply = std::move(reply);
    return decision;
}

Decision decide_on(Inspect&& inspect, const Session* past, const State& state) {
    const auto* live = state.find(inspect.session_id);
    if (live == nullptr) {
        if (past == nullptr) return refuse(not_found(inspect.session_id));
        return answer(InspectReply{});
    }
    InspectReply reply{.is_open = true, .due_in = {}, .last_seen_at = {}, .departed = {}};
    if (auto gone = departed(*live, state)) reply.departed = std::move(gone->end);
    reply.last_seen_at = live->last_seen_at();
    if (live->deadline() != LiveSession::no_deadline) {
        reply.due_in = std::chrono::duration_cast<std::chrono::milliseconds>(
            std::max(live->deadline() - state.now().steady, std::chrono::nanoseconds{0}));
    }
    return answer(reply);
}

template <typename Visit>
void for_each_owned_by(const OwnerEntry& entry, const State& state, Visit&& visit) {
    for (auto slot = entry.first; slot != LiveTable::none;
         slot = state.at(slot).owner_link().next) {
        visit(state.at(slot));
    }
}

/// The last session that a page after `after` has room for; nothing when it has room for all.
std::optional<Ordinal> end_of_page(Ordinal after, const State& state) {
    std::vector<Ordinal> found;
    state.owners().for_each([&](const OwnerEntry& entry) {
        for_each_owned_by(entry, state, [&](const LiveSession& live) {
            if (live.ordinal() > after) found.push_back(live.ordinal());
        });
    });
    if (found.size() <= limits::sweep_report_max) return std::nullopt;
    const auto last = found.begin() + limits::sweep_report_max - 1;
    std::ranges::nth_element(found, last);
    return *last;
}

Decision decide_on(Survey&& survey, const Session*, const State& state) {
    SurveyReply reply;
    reply.next = end_of_page(survey.after, state);
    reply.leases = state.lease_count();
    reply.parked = state.count(Status::detached);
    state.owners().for_each([&](const OwnerEntry& entry) {
        // The store refused its only session.  Who is watched for nobody's sake would never be let
        // go of, and what was said of it then would not be said again when it owns one.
        if (entry.sessions == 0) return;
        SurveyReply::Owner owner{entry.process, entry.sessions, {}, entry.uncertain > 0};
        for_each_owned_by(entry, state, [&](const LiveSession& live) {
            if (live.ordinal() <= survey.after) return;
            if (reply.next && live.ordinal() > *reply.next) return;
            owner.named.push_back(
                {SessionId(std::string(live.id())), live.on_owner_loss() == OnOwnerLoss::park});
        });
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
