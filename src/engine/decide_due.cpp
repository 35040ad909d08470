#include <algorithm>

#include <fmt/format.h>

#include "engine/clock_words.hpp"
#include "engine/decide.hpp"
#include "engine/decide_on.hpp"
#include "engine/end_events.hpp"

namespace knell {

namespace {

/// The last moment at which the owner is known to have been there.
WallTime last_known_alive(const LiveSession& live, const Departure& departure, WallTime seen_gone,
                          const State& state) {
    if (departure.last_look)
        return std::min(state.earliest_for(live, departure.last_look), seen_gone);
    // A process may be gone while others still speak for it: that it began is all they prove.
    auto known = live.owner_since();
    // Until its last word an earlier daemon watched this owner and would have seen it go.
    const auto watched_until = state.last_word_for(live);
    if (watched_until && *watched_until <= seen_gone && !live.unknown_since()) {
        known = std::max(known, *watched_until);
    }
    return std::min(known, seen_gone);
}

}  // namespace

Departed end_of_departed(const LiveSession& live, const OwnerEntry& owner, const State& state) {
    const auto& departure = owner.departure;
    const bool is_command = live.leftovers() != LeftoversPolicy::none;
    End end;
    const auto path = path_for(departure, is_command);
    end.reason = *row_of(path).reason;
    end.proof = row_of(path).proof;
    end.detail = detail_for(departure);
    end.evidence = departure.evidence;
    end.ended_before = state.latest_for(live, departure.seen_at);
    end.ended_after = last_known_alive(live, departure, end.ended_before, state);
    end.ended_at = departure.last_look
                       ? end.ended_before
                       : std::clamp(live.last_seen_at(), end.ended_after, end.ended_before);
    end.evidence += said_of_clock(state.set_back_for(live), !departure.last_look, state);
    const auto found = std::ranges::find(owner.found, live.id(), &FoundLeftovers::session_id);
    if (is_command && found != owner.found.end()) end.leftovers = found->leftovers;
    return {path, std::move(end)};
}

std::optional<Departed> departed(const LiveSession& live, const State& state, bool was_searched) {
    const auto* owner = state.owner_of(live);
    if (owner == nullptr || live.on_owner_loss() != OnOwnerLoss::end) return {};
    if (!owner->leaving && !owner->gone) return {};
    auto departed = end_of_departed(live, *owner, state);
    if (owner->leaving && !was_searched) {
        departed.end.evidence += "; what it left behind was not looked for any more";
    }
    return departed;
}

namespace {

Decision end_of_gone(const LiveSession& live, const OwnerEntry& owner, const State& state) {
    const auto now = state.time_for(live);
    auto [path, end] = end_of_departed(live, owner, state);
    Decision decision;
    end_session(decision, path, live, std::move(end), state.owner_hosts(), now, state);
    return decision;
}

/// "signaled, signal 9 (SIGKILL): seen through its pidfd"
std::string how_it_went(const End& seen) {
    return fmt::format("{}{}{}{}{}", name_of(seen.reason), seen.detail.empty() ? "" : ", ",
                       seen.detail, seen.evidence.empty() ? "" : ": ", seen.evidence);
}

/// Parked since its owner was last known to be there: what ends it later ends it between then and
/// that time.  How that owner went is known only now: it goes on record with the session.
Decision park(const LiveSession& live, const OwnerEntry& owner, const State& state) {
    const auto id = live.id();
    Decision decision;
    if (live.turn_since()) {
        decision.events.push_back(
            live.event(EventType::agent_end, state.time_for(live), state.owner_hosts()));
    }
    auto seen = end_of_departed(live, owner, state).end;
    keep_within_life(seen, live);
    decision.changes.emplace_back(Parked{{id, live.ordinal(), live.generation()},
                                         seen.ended_after,
                                         state.now().steady,
                                         seen.ended_before,
                                         how_it_went(seen)});
    return decision;
}

Decision end_of_parked(const LiveSession& live, const State& state) {
    const auto now = state.time_for(live);
    End end;
    end.reason = Reason::owner_lost;
    end.proof = row_of(EndPath::park_window_over).proof;
    end.detail = "park window over";
    end.evidence = fmt::format("nobody claimed it within {} s", live.park_window().count());
    end.evidence += said_of_clock(state.set_back_for(live), live.is_silent_since_start(), state);
    end.ended_after = end.ended_at = std::min(*live.parked_since(), now);
    end.ended_before = now;
    Decision decision;
    end_session(decision, EndPath::park_window_over, live, std::move(end), state.owner_hosts(), now,
                state);
    return decision;
}

Decision reap(const LiveSession& live, const State& state) {
    const auto now = state.time_for(live);
    End end;
    end.reason = Reason::reaped;
    end.proof = row_of(EndPath::lease_ran_out).proof;
    end.detail = fmt::format("lease of {} s not renewed", live.lease_ttl().count());
    end.evidence = fmt::format("last renewed at {}{}", format_rfc3339(live.last_seen_at()),
                               live.unknown_since() ? ", held for one more TTL since then" : "");
    end.evidence += said_of_clock(state.set_back_for(live), live.is_silent_since_start(), state);
    end.ended_after = end.ended_at = std::min(live.last_seen_at(), now);
    end.ended_before = now;
    Decision decision;
    end_session(decision, EndPath::lease_ran_out, live, std::move(end), state.owner_hosts(), now,
                state);
    return decision;
}

/// The doubt and the event that tells of it.
Decision doubt(const LiveSession& live, EventType type, std::string why, const State& state) {
    const auto now = state.time_for(live);
    const auto id = live.id();
    Decision decision;
    const bool unknown = type == EventType::session_unknown;
    decision.changes.emplace_back(
        LivenessMarked{{id, live.ordinal(), live.generation()},
                       unknown ? std::optional(now) : live.unknown_since(),
                       unknown ? live.stalled_since() : std::optional(now)});
    auto event = live.event(type, now, state.owner_hosts());
    event.detail = std::move(why);
    decision.events.push_back(std::move(event));
    return decision;
}

/// Nothing holds it any more, or only a turn whose client is gone for long.
Decision end_of_hosted(const LiveSession& live, const State& state) {
    if (live.turn_since() && !live.stalled_since()) {
        auto decision = doubt(live, EventType::session_stalled,
                              fmt::format("a turn is on, but nobody was there for it for {} s",
                                          live.turn_window().count()),
                              state);
        // The detach window runs from here, also for the next daemon.
        decision.changes.emplace_back(Seen{{live.id(), live.ordinal(), live.generation()},
                                           live.last_seen_at(),
                                           state.now().steady});
        return decision;
    }
    const auto now = state.time_for(live);
    End end;
    end.reason = Reason::detached_expiry;
    end.proof = row_of(EndPath::detach_window_over).proof;
    end.detail = fmt::format("nobody was there for {} s", live.lease_ttl().count());
    end.evidence =
        fmt::format("hosted here; no client looked at it after {}{}, and no call named it after {}",
                    format_rfc3339(live.detached_since().value_or(live.owner_since())),
                    live.turn_since() ? ", its turn had stalled" : ", no turn was on",
                    format_rfc3339(live.last_seen_at()));
    end.ended_at = end.ended_after = end.ended_before = now;
    Decision decision;
    end_session(decision, EndPath::detach_window_over, live, std::move(end), state.owner_hosts(),
                now, state);
    return decision;
}

}  // namespace

Decision decide_due(const LiveSession& live, bool hold, const State& state) {
    if (const auto* owner = state.owner_of(live); owner != nullptr && owner->gone) {
        const bool may_park = live.on_owner_loss() == OnOwnerLoss::park &&
                              owner->departure.kind != Departure::Kind::host_restart;
        return may_park ? park(live, *owner, state) : end_of_gone(live, *owner, state);
    }
    if (live.tell_detach_at() <= state.now().steady) return tell_detach(live, state);
    if (live.parked_since()) return end_of_parked(live, state);
    if (live.is_hosted()) return end_of_hosted(live, state);
    if (live.owner_kind() == OwnerKind::process) {
        return doubt(live, EventType::session_stalled,
                     fmt::format("no sign of progress for {} s, but its process is alive",
                                 live.lease_ttl().count()),
                     state);
    }
    if (hold && !live.unknown_since()) {
        auto decision =
            doubt(live, EventType::session_unknown,
                  "more than half of all leases fell due within a second: the fault is taken "
                  "to be here or in the network; held for one more TTL",
                  state);
        decision.changes.emplace_back(Seen{{live.id(), live.ordinal(), live.generation()},
                                           live.last_seen_at(),
                                           state.now().steady});
        return decision;
    }
    return reap(live, state);
}

Change save_interaction(const LiveSession& live, const State& state) {
    return Interacted{{live.id(), live.ordinal(), live.generation()}, state.interaction_of(live)};
}

Change save_seen(const LiveSession& live) {
    return Seen{{live.id(), live.ordinal(), live.generation()}, live.last_seen_at()};
}

}  // namespace knell
