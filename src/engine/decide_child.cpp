// A child goes on with what was said in its parent: all of it, or a summary and what came since.

#include <algorithm>

#include <fmt/format.h>

#include "engine/decide_on.hpp"
#include "engine/end_events.hpp"
#include "engine/refusals.hpp"
#include "engine/reset_end.hpp"

namespace knell {

namespace {

SessionRef ref_to(const Session& session) {
    return {session.id, session.ordinal, session.generation};
}

/// The child as its parent is, with the same owner; nothing is said in it yet.
Session child_of(const Session& row, const LiveSession& live, const SessionId& id,
                 Relation relation, const State& state) {
    const auto now = state.time_for(live);
    Session child;
    child.ordinal = state.heads().ordinal + 1;
    child.id = id;
    child.key = row.key;
    child.key_taken = live.is_key_taken();
    child.source = row.source;
    child.platform = row.platform;
    child.user_id = row.user_id;
    child.chat_type = row.chat_type;
    child.parent_id = row.id;
    child.relation = relation;
    child.model = row.model;
    child.title = row.title;
    child.cwd = row.cwd;
    child.meta = row.meta;
    child.owner = live.owner(state.owner_hosts());
    child.owner.since = now;
    child.on_owner_loss = row.on_owner_loss;
    child.park_window = row.park_window;
    child.leftovers = row.leftovers;
    child.started_at = child.last_activity_at = child.last_seen_at = now;
    // The conversation is the same: how long nobody spoke is, too.
    child.last_interaction_at = std::min(state.interaction_of(live), now);
    if (child.owner.lease_ttl.count() > 0) child.lease_from = state.now().steady;
    if (child.owner.kind == OwnerKind::hosted) child.detached_since = now;
    return child;
}

/// What a person wanted of the conversation holds for what goes on in its place.
void carry_wishes(Decision& decision, const Session& child, const Session& parent) {
    if (parent.pinned) {
        decision.changes.emplace_back(Labelled{ref_to(child), Labels{child.title, true}});
    }
    if (parent.suspended_at) {
        decision.changes.emplace_back(
            Suspended{ref_to(child), *parent.suspended_at, parent.suspend_why});
    }
}

/// Whoever works goes on working: a turn that is on in the parent is on in the child, and holds it
/// as one whose client is away until somebody says that it is over.
void carry_turn(Decision& decision, const Session& child, const LiveSession& parent) {
    decision.events.push_back(event_about(child, EventType::agent_start, child.started_at));
    TurnSet turn{ref_to(child), child.started_at, child.started_at};
    turn.is_interaction = false;
    if (child.owner.kind == OwnerKind::hosted) {
        turn.lease_from = child.lease_from;
        turn.window = parent.turn_window();
    }
    decision.changes.emplace_back(turn);
}

OpenedReply open_child(Decision& decision, const Session& child, const LiveSession& parent,
                       bool replaces_parent, const State& state) {
    decision.events.push_back(event_about(child, EventType::session_start, child.started_at));
    decision.changes.emplace_back(Opened{child, parent.reaper(), parent.reaper_is_parent()});
    const bool has_turn = replaces_parent && parent.turn_since();
    if (has_turn) carry_turn(decision, child, parent);
    const bool is_hosted = child.owner.kind == OwnerKind::hosted;
    const auto status = status_of(StatusFacts{.turn = has_turn, .detached = is_hosted});
    OpenedReply reply{child.id, child.generation, status,
                      is_hosted ? std::chrono::seconds{0} : child.owner.lease_ttl};
    mark_uncertain_if_known(decision, reply, child.ordinal, child.owner, state);
    return reply;
}

Error turn_is_on(const LiveSession& live) {
    return {ErrorCode::blocked,
            fmt::format("a turn is on in session {} since {}; it is compressed when that is over",
                        live.id().text(), format_rfc3339(*live.turn_since())),
            {},
            {}};
}

End end_of_parent(EndPath path, const std::string& evidence, WallTime now) {
    End end;
    end.reason = *row_of(path).reason;
    end.proof = row_of(path).proof;
    end.evidence = evidence;
    end.ended_at = end.ended_after = end.ended_before = now;
    return end;
}

Tally difference(const Tally& all, const Tally& part) {
    return {std::max<std::int64_t>(all.messages - part.messages, 0),
            std::max<std::int64_t>(all.input_tokens - part.input_tokens, 0),
            std::max<std::int64_t>(all.output_tokens - part.output_tokens, 0)};
}

}  // namespace

Decided<Branch::Reply> decide_on(Branch&& branch, const Session* row, const State& state) {
    const auto found = writable(branch.session_id, branch.generation, row, state);
    if (!found) return refuse(found.error());
    const auto& live = **found;
    const auto now = state.time_for(live);
    auto child = child_of(*row, live, branch.child_id, Relation::branch, state);
    if (!branch.title.empty()) child.title = branch.title;
    auto decision = reply_with(BranchedReply{});
    if (branch.keep_open) {
        // A key has one open session: its messages go where they went.
        child.key.clear();
        child.key_taken = false;
    } else {
        auto end = end_of_parent(EndPath::branched, "session.branch by " + branch.said_by, now);
        end.detail = fmt::format("goes on as {}", child.id.text());
        auto& parent = decision.reply->parent.emplace(
            ClosedReply{live.id(), live.generation(), {}, /*already_ended=*/false});
        parent.end =
            end_session(decision, EndPath::branched, live, std::move(end), state.owner_hosts(), now,
                        state, {ProcessesAtEnd::hand_over, child.id});
    }
    decision.reply->child = open_child(decision, child, live, !branch.keep_open, state);
    if (!branch.keep_open) carry_wishes(decision, child, *row);
    if (live.tally().messages > 0) {
        decision.changes.emplace_back(
            MessagesCopied{ref_to(child), live.ordinal(), 0, 1, live.tally()});
    }
    if (!branch.keep_open) hand_processes_over(decision, live.id(), child.id, 1, state);
    return decision;
}

Decided<Compress::Reply> decide_on(Compress&& compress, const Session* row, const State& state) {
    const auto found = writable(compress.session_id, compress.generation, row, state);
    if (!found) return refuse(found.error());
    const auto& live = **found;
    if (compress.between_turns && live.turn_since()) return refuse(turn_is_on(live));
    const auto now = state.time_for(live);
    const bool has_summary = !compress.summary.empty();
    auto child = child_of(*row, live, compress.child_id, Relation::compression, state);
    child.summary_lost = !has_summary;
    const auto outcome = has_summary ? CompressOutcome::compressed : CompressOutcome::tail;
    auto decision = reply_with(CompressedReply{{}, outcome});

    auto told = live.event(EventType::session_compress, now, state.owner_hosts());
    told.compression = Compression{outcome, child.id, compress.provider};
    told.detail = compress.why_no_summary;
    decision.events.push_back(std::move(told));
    auto end = end_of_parent(
        EndPath::compressed,
        fmt::format("session.compress by {}; {}", compress.said_by,
                    has_summary ? fmt::format("{} made a summary of {} messages", compress.provider,
                                              compress.before.messages)
                                : "no summary could be made: " + compress.why_no_summary),
        now);
    end.detail = fmt::format("goes on as {}", child.id.text());
    end_session(decision, EndPath::compressed, live, std::move(end), state.owner_hosts(), now,
                state, {ProcessesAtEnd::hand_over, child.id});

    decision.reply->child = open_child(decision, child, live, /*replaces_parent=*/true, state);
    carry_wishes(decision, child, *row);
    Tally tally;
    if (has_summary) {
        const Message summary{"system", std::move(compress.summary), {}, 0};
        count(tally, summary);
        decision.changes.emplace_back(Appended{ref_to(child),
                                               1,
                                               {summary},
                                               tally,
                                               now,
                                               /*is_interaction=*/false});
    }
    const auto first = tally.messages + 1;
    const auto kept = difference(live.tally(), compress.before);
    if (kept.messages > 0) {
        tally.messages += kept.messages;
        tally.input_tokens += kept.input_tokens;
        tally.output_tokens += kept.output_tokens;
        decision.changes.emplace_back(
            MessagesCopied{ref_to(child), live.ordinal(), compress.kept_after, first, tally});
    }
    hand_processes_over(decision, live.id(), child.id, 1, state);
    return decision;
}

Decided<NotedReply> decide_on(CompressionFailed&& failed, const Session*, const State& state) {
    const auto* live = state.find(failed.session_id);
    if (live == nullptr || live->generation() != failed.generation)
        return reply_with(NotedReply{0});
    auto decision = reply_with(NotedReply{1});
    auto event =
        live->event(EventType::session_compress, state.time_for(*live), state.owner_hosts());
    event.compression = Compression{CompressOutcome::failed, {}, {}};
    event.detail = std::move(failed.why);
    decision.events.push_back(std::move(event));
    return decision;
}

}  // namespace knell
