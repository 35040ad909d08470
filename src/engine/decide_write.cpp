// What an owner says while its session is open: messages, turns, signs of life.

#include "engine/decide_on.hpp"
#include "engine/refusals.hpp"

namespace knell {

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

void clear_uncertainty(Decision& decision, const SessionId& id, const LiveSession& live) {
    const auto unknown =
        live.owner_kind() == OwnerKind::process ? live.unknown_since() : std::nullopt;
    if (live.unknown_since() == unknown && !live.stalled_since()) return;
    decision.changes.emplace_back(
        LivenessMarked{{id, live.ordinal(), live.generation()}, unknown, {}});
}

void keep_first_sign(Decision& decision, const SessionId& id, const LiveSession& live,
                     const State& state) {
    if (!live.is_silent_since_start()) return;
    decision.changes.emplace_back(
        Seen{{id, live.ordinal(), live.generation()}, state.seen_at(live), state.heard().steady});
}

Decided<Append::Reply> decide_on(Append&& append, const Session* past, const State& state) {
    const auto found = writable(append.session_id, append.generation, past, state);
    if (!found) return refuse(found.error());
    const auto& live = **found;
    auto tally = live.tally();
    for (const auto& message : append.messages) count(tally, message);
    auto decision = reply_with(AppendedReply{append.session_id, append.generation, tally});
    clear_uncertainty(decision, append.session_id, live);
    keep_first_sign(decision, append.session_id, live, state);
    decision.changes.emplace_back(
        Appended{{std::move(append.session_id), live.ordinal(), append.generation},
                 live.tally().messages + 1,
                 std::move(append.messages),
                 tally,
                 state.seen_at(live),
                 !append.is_automatic});
    return decision;
}

Decided<Turn::Reply> decide_on(Turn&& turn, const Session* past, const State& state) {
    const auto found = writable(turn.session_id, turn.generation, past, state);
    if (!found) return refuse(found.error());
    const auto& live = **found;
    const auto now = state.time_for(live);
    const bool was_on = live.turn_since().has_value();
    // Whoever writes is not late any more; see clear_uncertainty.
    const bool unknown = live.owner_kind() == OwnerKind::process && live.unknown_since();
    const auto status = status_of(StatusFacts{.unknown = unknown,
                                              .turn = turn.on,
                                              .attached = !live.clients().empty(),
                                              .background = live.background_since().has_value(),
                                              .detached = live.is_hosted()});
    auto decision = reply_with(
        TurnReply{turn.session_id, turn.generation, status, was_on != turn.on, live.is_hosted()});
    clear_uncertainty(decision, turn.session_id, live);
    keep_first_sign(decision, turn.session_id, live, state);
    // Whoever says so again is there for it, too: the one who began it may lose its connection.
    const bool joins = live.is_hosted() && was_on && turn.on && turn.client != ClientId::none &&
                       !live.has_turn_client(turn.client);
    if (was_on == turn.on && !joins) {
        decision.renewals.push_back(std::move(turn.session_id));
        return decision;
    }
    if (!joins) {
        decision.events.push_back(live.event(
            turn.on ? EventType::agent_start : EventType::agent_end, now, state.owner_hosts()));
    }
    TurnSet change{{std::move(turn.session_id), live.ordinal(), turn.generation},
                   joins ? live.turn_since() : std::optional(now),
                   state.seen_at(live)};
    if (!turn.on) change.turn_since.reset();
    change.is_interaction = !turn.is_automatic;
    const auto tokens = live.tally().input_tokens + live.tally().output_tokens;
    if (!turn.on && state.compress_at() > 0 && tokens >= state.compress_at()) {
        decision.effects.emplace_back(StartCompression{change.id, change.generation});
    }
    if (live.is_hosted()) {
        change.lease_from = state.now().steady;
        if (turn.on) change.client = turn.client;
        change.window = turn.window;
    }
    decision.changes.emplace_back(std::move(change));
    return decision;
}

Decided<Heartbeat::Reply> decide_on(Heartbeat&& heartbeat, const Session*, const State& state) {
    HeartbeatReply reply;
    Decided<HeartbeatReply> decision;
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

}  // namespace knell
