// Opening a session, again too, and taking one over.

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "engine/background.hpp"
#include "engine/decide_on.hpp"
#include "engine/end_events.hpp"
#include "engine/refusals.hpp"

namespace knell {

void mark_uncertain_if_known(Decision& decision, OpenedReply& reply, Ordinal ordinal,
                             const Owner& owner, const State& state) {
    if (owner.kind != OwnerKind::process) return;
    const auto number = state.owners().find(owner.process);
    if (number == OwnerTable::none || !state.owners().at(number).unclear) return;
    auto event = decision.events.back();
    event.type = EventType::session_unknown;
    event.detail = "its owner cannot be checked, as before";
    decision.changes.emplace_back(
        LivenessMarked{{event.session_id, ordinal, event.generation}, event.time, std::nullopt});
    decision.events.push_back(std::move(event));
    reply.status = Status::unknown;
}

namespace {

/// What it is once it is opened: nothing is on and nothing in doubt, unless it is over already.
OpenedReply opened_reply(const SessionId& id, Generation generation, const Owner& owner,
                         bool is_over, bool is_attached = false) {
    const bool is_hosted = owner.kind == OwnerKind::hosted;
    const StatusFacts facts{.ended = is_over, .attached = is_attached, .detached = is_hosted};
    return {id, generation, status_of(facts),
            is_hosted ? std::chrono::seconds{0} : owner.lease_ttl};
}

/// What was opened in this decision is over already.
void close_at_once(Decision& decision, const Session& opened, const Close& close, WallTime now,
                   const State& state) {
    OwnerHosts owner_hosts;
    TextPool texts;
    const LiveSession live(opened, owner_hosts, texts, std::chrono::milliseconds{0});
    auto end = end_of(close, EndPath::spooled, now);
    // The wrapper wrote when it had waited for the command, and nobody looked in between.
    end.ended_after = std::min(opened.owner.since, end.ended_before);
    end_session(decision, EndPath::spooled, live, std::move(end), owner_hosts, now, state);
}

/// Processes of an earlier generation may still run, and be work.
void keep_by_background(Decided<OpenedReply>& decision, Ordinal ordinal, const Owner& owner,
                        std::optional<WallTime> since, WallTime now, const State& state) {
    auto& reply = *decision.reply;
    const SessionRef session{reply.session_id, ordinal, reply.generation};
    if (!open_background(decision, session, owner, since, now, state)) return;
    if (reply.status == Status::idle || reply.status == Status::detached) {
        reply.status = Status::background;
    }
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

/// What the next generation is called; "": as the one before.  `knell run` calls a session after
/// its command unless it is told a title: such a name follows the command, and is never put over
/// one that somebody chose.
std::string next_title(const Resume& resume, std::string_view title, std::string_view command) {
    const bool was_chosen = !title.empty() && title != command;
    const bool is_chosen = resume.title != resume.owner.command;
    return was_chosen && !is_chosen ? std::string() : resume.title;
}

/// What both ways to the next generation take from the call.
void hand_over(Reopened& change, const Resume& resume, const State& state) {
    change.cwd = resume.cwd;
    change.on_owner_loss = resume.on_owner_loss;
    change.park_window = resume.park_window;
    change.leftovers = resume.leftovers;
    change.reaper = resume.reaper;
    change.reaper_is_parent = resume.reaper_is_parent;
    change.lease_from = state.now().steady;
}

/// A live session changes hands: the old generation ends before the new one starts.
Decided<OpenedReply> change_owner(Resume&& resume, const LiveSession& live, const State& state) {
    const auto now = state.time_for(live);
    End end;
    end.reason = Reason::superseded;
    end.proof = row_of(EndPath::taken_over).proof;
    end.detail = live.parked_since() ? "claimed" : "takeover";
    end.evidence = fmt::format("session.resume by {}", resume.said_by);
    end.ended_at = end.ended_after = end.ended_before = now;
    auto path = live.parked_since() ? EndPath::claimed : EndPath::taken_over;
    // Taken from nobody: what was seen of its owner is what ended it.
    if (auto gone = departed(live, state)) {
        std::tie(path, end) = std::tie(gone->path, gone->end);
        name_processes(end.leftovers, live.id(), state);
    }
    keep_within_life(end, live);
    tell_parked_owner(end, live);
    const auto kept_since = live.background_since();
    resume.owner.since = now;
    Reopened change{{resume.session_id, live.ordinal(), live.generation() + 1}};
    change.fold = live.fold(std::nullopt);
    change.key_taken = live.is_key_taken();
    change.at = now;
    change.former_owners = with_former(live.former_owners(), live.owner(state.owner_hosts()));
    change.title = next_title(resume, live.title(), live.command());
    change.owner = std::move(resume.owner);
    hand_over(change, resume, state);
    // Whoever looked at it still does.
    auto decision =
        reply_with(opened_reply(resume.session_id, change.generation, change.owner,
                                /*is_over=*/false, /*is_attached=*/!live.clients().empty()));
    record_leftovers(decision, end.leftovers,
                     live.event(EventType::notice, now, state.owner_hosts()), state);
    tell_end(decision.events, path, live, end, state.owner_hosts(), now);
    auto start = live.event(EventType::session_start, now, state.owner_hosts());
    tell_owner(start, change.owner);
    if (!change.title.empty()) start.title = change.title;
    if (!change.cwd.empty()) start.cwd = change.cwd;
    start.generation = change.generation;
    start.started_at = now;
    decision.events.push_back(std::move(start));
    const auto owner = change.owner;
    decision.changes.emplace_back(std::move(change));
    keep_by_background(decision, live.ordinal(), owner, kept_since, now, state);
    mark_uncertain_if_known(decision, *decision.reply, live.ordinal(), owner, state);
    return decision;
}

/// The daemon keeps it already, for whoever comes: nothing changes hands.
Decided<OpenedReply> go_on_hosting(const LiveSession& live) {
    return reply_with(OpenedReply{live.id(), live.generation(), live.status(), {}});
}

}  // namespace

Decided<Create::Reply> open_session(Create&& create, const Session* past, const State& state) {
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
    session.last_interaction_at = started;
    session.owner.since = started;
    if (session.owner.lease_ttl.count() > 0) session.lease_from = state.now().steady;
    if (session.owner.kind == OwnerKind::hosted) session.detached_since = started;
    auto decision =
        reply_with(opened_reply(session.id, 1, session.owner, create.and_close.has_value()));
    decision.events.push_back(event_about(session, EventType::session_start, now));
    decision.changes.emplace_back(Opened{session, create.reaper, create.reaper_is_parent});
    if (create.and_close) {
        close_at_once(decision, session, *create.and_close, now, state);
    } else {
        keep_by_background(decision, session.ordinal, session.owner, {}, now, state);
        mark_uncertain_if_known(decision, *decision.reply, session.ordinal, session.owner, state);
    }
    return decision;
}

Decided<Create::Reply> decide_on(Create&& create, const Session* past, const State& state) {
    const auto* holder = state.find_by_key(create.draft.key);
    auto decided = open_session(std::move(create), past, state);
    if (!decided.reply || holder == nullptr) return decided;
    // Whoever is opened last has the key, also when that one ends: a conversation that was begun
    // anew does not go back to the one before.
    const SessionRef older{holder->id(), holder->ordinal(), holder->generation()};
    decided.changes.insert(decided.changes.begin(), KeyTaken{older});
    return decided;
}

Decided<Resume::Reply> decide_on(Resume&& resume, const Session* past, const State& state) {
    if (const auto* live = state.find(resume.session_id)) {
        // A parked session has no owner to ask, nor has one that is about to end.
        const bool is_owned = !live->parked_since() && !departed(*live, state);
        if (live->is_hosted() && resume.owner.kind == OwnerKind::hosted && !resume.takeover) {
            return go_on_hosting(*live);
        }
        // A life that is over already comes after the one before: it waits for the end of that.
        if (!resume.takeover && (is_owned || resume.and_close)) {
            return refuse(owned_by(*live, state));
        }
        return change_owner(std::move(resume), *live, state);
    }
    if (past == nullptr) return refuse(not_found(resume.session_id));

    // Not before the life before it was over, however far back the clock was set since.
    const auto now = std::max(state.now().wall, past->end->ended_before);
    Session opened = *past;
    opened.end.reset();
    opened.generation = past->generation + 1;
    Reopened change{{opened.id, opened.ordinal, opened.generation}};
    change.title = next_title(resume, past->title, past->owner.command);
    opened.owner = std::move(resume.owner);
    opened.owner.since = std::min(resume.at.value_or(now), now);
    opened.leftovers = resume.leftovers;
    change.owner = opened.owner;
    // One that is over already has done nothing since.
    change.at = resume.and_close ? std::max(opened.owner.since, past->end->ended_before) : now;
    change.past = *past;
    change.key_taken = past->key_taken || resume.has_newer_of_key;
    change.former_owners = with_former(past->former_owners, past->owner);
    hand_over(change, resume, state);
    if (!change.title.empty()) opened.title = change.title;
    if (!change.cwd.empty()) opened.cwd = change.cwd;
    change.fold = fold_of(opened);
    auto decision = reply_with(
        opened_reply(opened.id, opened.generation, opened.owner, resume.and_close.has_value()));
    decision.events.push_back(event_about(opened, EventType::session_start, now));
    decision.changes.emplace_back(std::move(change));
    if (resume.and_close) {
        close_at_once(decision, opened, *resume.and_close, now, state);
    } else {
        keep_by_background(decision, opened.ordinal, opened.owner, {}, now, state);
        mark_uncertain_if_known(decision, *decision.reply, opened.ordinal, opened.owner, state);
    }
    return decision;
}

}  // namespace knell
