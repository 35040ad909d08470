// Somebody says that a session is over.

#include <algorithm>

#include <fmt/format.h>

#include "engine/decide_on.hpp"
#include "engine/end_events.hpp"
#include "engine/refusals.hpp"

namespace knell {

namespace {

/// Whether a close is the word of somebody who saw it, or a claim.
EndPath path_of(const Close& close, const LiveSession& live) {
    const bool saw = close.is_over && close.caller && live.leftovers() != LeftoversPolicy::none &&
                     (close.by_parent || live.is_parent(*close.caller)) &&
                     leads_to(EndPath::waited_for, close.reason);
    return saw ? EndPath::waited_for : EndPath::closed;
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

/// Whether the process owned an earlier generation, and not this one.
bool was_owned_by(const LiveSession& live, const ProcessIdentity& process, const State& state) {
    const auto& former = live.former_owners();
    if (std::ranges::find(former, process) == former.end()) return false;
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

}  // namespace

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

Decided<Close::Reply> decide_on(Close&& close, const Session* past, const State& state) {
    const auto* live = state.find(close.session_id);
    if (live == nullptr) {
        if (past == nullptr) return refuse(not_found(close.session_id));
        if (close.generation && *close.generation != past->generation) {
            return refuse(fenced(past->id, *close.generation, past->generation));
        }
        return reply_with(
            ClosedReply{past->id, past->generation, *past->end, /*already_ended=*/true});
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
        auto decision = reply_with(ClosedReply{close.session_id, live->generation(), {}, true});
        decision.reply->end = end_session(decision, gone->path, *live, std::move(gone->end),
                                          state.owner_hosts(), now, state);
        return decision;
    }
    auto end = end_of(close, path, now);
    if (tells_of_a_command(close, *live)) {
        bound_by_what_was_seen(end, *live, state);
        if (live->owner_kind() == OwnerKind::lease) {
            end.evidence +=
                "; what the command left running was not looked for: it cannot be seen from here";
        } else if (close.at) {
            end.evidence += "; what the command left running was not looked for";
        }
    }
    auto decision = reply_with(ClosedReply{close.session_id, live->generation(), {}, false});
    decision.reply->end =
        end_session(decision, path, *live, std::move(end), state.owner_hosts(), now, state);
    return decision;
}

}  // namespace knell
