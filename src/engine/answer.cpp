// Questions: they change nothing.

#include <algorithm>

#include "core/limits.hpp"
#include "engine/blockers.hpp"
#include "engine/decide_on.hpp"
#include "engine/refusals.hpp"

namespace knell {

namespace {

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

Result<InspectReply> answer_to(const Inspect& inspect, const Session* past, const State& state) {
    const auto* live = state.find(inspect.session_id);
    if (live == nullptr) {
        if (past == nullptr) return std::unexpected(not_found(inspect.session_id));
        return InspectReply{};
    }
    InspectReply reply;
    reply.is_open = true;
    if (auto gone = departed(*live, state)) reply.departed = std::move(gone->end);
    reply.last_seen_at = live->last_seen_at();
    reply.last_interaction_at = state.interaction_of(*live);
    if (live->reset_held_since()) {
        auto blockers = blockers_by_policy(live->id(), state.policy_of(*live), state);
        const auto until = last_let_go(blockers);
        reply.held = HeldReset{*live->reset_held_since(), until, std::move(blockers)};
    }
    if (const auto* guard = state.guards().find(live->ordinal())) {
        reply.guard = *guard;
        reply.breaker_left = std::chrono::ceil<std::chrono::milliseconds>(
            std::max(guard->breaker.until - state.now().boot, std::chrono::nanoseconds{0}));
    }
    if (live->deadline() != LiveSession::no_deadline) {
        reply.due_in = std::chrono::duration_cast<std::chrono::milliseconds>(
            std::max(live->deadline() - state.now().steady, std::chrono::nanoseconds{0}));
    }
    return reply;
}

Result<SurveyReply> answer_to(const Survey& survey, const Session*, const State& state) {
    SurveyReply reply;
    reply.next = end_of_page(survey.after, state);
    reply.leases = state.lease_count();
    reply.parked = state.parked_count();
    state.owners().for_each([&](const OwnerEntry& entry) {
        // The store refused its only session.  Who is watched for nobody's sake would never be let
        // go of, and what was said of it then would not be said again when it owns one.
        if (entry.sessions == 0) return;
        SurveyReply::Owner owner{entry.process, entry.sessions, {}, entry.uncertain > 0};
        for_each_owned_by(entry, state, [&](const LiveSession& live) {
            if (live.ordinal() <= survey.after) return;
            if (reply.next && live.ordinal() > *reply.next) return;
            owner.named.push_back({live.id(), live.on_owner_loss() == OnOwnerLoss::park});
        });
        reply.owners.push_back(std::move(owner));
    });
    return reply;
}

}  // namespace

Result<Reply> answer(const Question& question, const Session* past, const State& state) {
    return std::visit(
        [&]<typename Asked>(const Asked& asked) -> Result<Reply> {
            Result<typename Asked::Reply> reply = answer_to(asked, past, state);
            return reply;
        },
        question);
}

}  // namespace knell
