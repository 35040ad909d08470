// Clients that look at sessions: they come, go, and are told of when the first came and the last
// has gone.  A hosted session is held by them.

#include <fmt/format.h>

#include "core/limits.hpp"
#include "engine/decide_on.hpp"
#include "engine/refusals.hpp"

namespace knell {

namespace {

/// As they are.
AttachmentSet attachments_of(const LiveSession& live) {
    AttachmentSet change;
    change.id = live.id();
    change.ordinal = live.ordinal();
    change.generation = live.generation();
    change.attached = static_cast<std::int32_t>(live.clients().size());
    change.told = live.is_attach_told();
    change.detached_since = live.detached_since();
    return change;
}

/// Nobody looks at it from now on.  That is told later, unless one comes back.
void detach(AttachmentSet& change, const LiveSession& live, const State& state) {
    change.attached = 0;
    if (!live.is_hosted()) return;
    change.detached_since = state.time_for(live);
    change.lease_from = state.now().steady;
}

AttachmentSet leave(const LiveSession& live, ClientId client, const State& state) {
    auto change = attachments_of(live);
    change.left = client;
    if (--change.attached == 0) detach(change, live, state);
    return change;
}

}  // namespace

Decided<Attach::Reply> decide_on(Attach&& attach, const Session* past, const State& state) {
    const auto* live = state.find(attach.session_id);
    if (live == nullptr) {
        if (past == nullptr) return refuse(not_found(attach.session_id));
        return refuse(has_ended(*past, "resume it to attach to it"));
    }
    if (const auto gone = departed(*live, state)) {
        return refuse(ended_just_now(*live, gone->end, state));
    }
    const bool is_there = live->has_client(attach.client);
    if (!is_there && live->clients().size() >= limits::clients_per_session_max) {
        return refuse(Error{ErrorCode::limit,
                            fmt::format("{} clients look at session {} already; detach one",
                                        live->clients().size(), attach.session_id.text()),
                            {},
                            {}});
    }
    auto change = attachments_of(*live);
    change.attached += is_there ? 0 : 1;
    const auto status = status_of(StatusFacts{.unknown = live->unknown_since().has_value(),
                                              .stalled = live->stalled_since().has_value(),
                                              .turn = live->turn_since().has_value(),
                                              .attached = true});
    auto decision = reply_with(AttachedReply{std::move(attach.session_id), live->generation(),
                                             status, change.attached, state.heads().seq});
    if (is_there) return decision;
    change.joined = attach.client;
    change.detached_since.reset();
    if (live->is_hosted()) change.lease_from = state.now().steady;
    if (!change.told) {
        change.told = true;
        decision.events.push_back(
            live->event(EventType::session_attach, state.time_for(*live), state.owner_hosts()));
    }
    decision.changes.emplace_back(std::move(change));
    return decision;
}

Decided<Detach::Reply> decide_on(Detach&& detach, const Session* past, const State& state) {
    const auto* live = state.find(detach.session_id);
    if (live == nullptr) {
        if (past == nullptr) return refuse(not_found(detach.session_id));
        return reply_with(DetachedReply{past->id, past->generation, 0, /*changed=*/false});
    }
    const auto attached = static_cast<std::int32_t>(live->clients().size());
    if (!live->has_client(detach.client)) {
        return reply_with(DetachedReply{std::move(detach.session_id), live->generation(), attached,
                                        /*changed=*/false});
    }
    auto decision = reply_with(DetachedReply{std::move(detach.session_id), live->generation(),
                                             attached - 1, /*changed=*/true});
    decision.changes.emplace_back(leave(*live, detach.client, state));
    return decision;
}

/// A disconnect drops the attachment and nothing else: a turn runs on, and holds a hosted session
/// for a while longer.
Decided<NotedReply> decide_on(ClientGone&& gone, const Session*, const State& state) {
    auto decision = reply_with(NotedReply{});
    for (const auto& id : gone.turns) {
        const auto* live = state.find(id);
        if (live == nullptr || !live->has_turn_client(gone.client)) continue;
        Seen left{{id, live->ordinal(), live->generation()}, live->last_seen_at()};
        if (live->turn_clients().size() == 1) left.lease_from = state.now().steady;
        left.turn_client_left = gone.client;
        decision.changes.emplace_back(std::move(left));
    }
    for (const auto& id : gone.sessions) {
        const auto* live = state.find(id);
        if (live == nullptr || !live->has_client(gone.client)) continue;
        decision.changes.emplace_back(leave(*live, gone.client, state));
    }
    decision.reply->sessions = decision.changes.size();
    return decision;
}

Decided<NotedReply> decide_on(ClientsGone&&, const Session*, const State& state) {
    auto decision = reply_with(NotedReply{state.attached_before().size()});
    for (const auto& id : state.attached_before()) {
        const auto* live = state.find(id);
        if (live == nullptr) continue;
        auto change = attachments_of(*live);
        detach(change, *live, state);
        decision.changes.emplace_back(std::move(change));
    }
    return decision;
}

Decided<NotedReply> decide_on(Named&& named, const Session*, const State& state) {
    auto decision = reply_with(NotedReply{});
    const auto* live = state.find(named.session_id);
    if (live == nullptr || !live->is_hosted()) return decision;
    keep_first_sign(decision, named.session_id, *live, state);
    decision.renewals.push_back(std::move(named.session_id));
    return decision;
}

Decision tell_detach(const LiveSession& live, const State& state) {
    Decision decision;
    auto change = attachments_of(live);
    change.told = false;
    decision.events.push_back(
        live.event(EventType::session_detach, state.time_for(live), state.owner_hosts()));
    decision.changes.emplace_back(std::move(change));
    return decision;
}

}  // namespace knell
