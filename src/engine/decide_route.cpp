// A message came in for a key: which session it belongs to.

#include <algorithm>

#include <fmt/format.h>

#include "core/names.hpp"
#include "core/route_rules.hpp"
#include "engine/blockers.hpp"
#include "engine/decide_on.hpp"
#include "engine/refusals.hpp"
#include "engine/reset_end.hpp"

namespace knell {

namespace {

void add(Decision& decision, Decision&& more) {
    std::ranges::move(more.changes, std::back_inserter(decision.changes));
    std::ranges::move(more.events, std::back_inserter(decision.events));
    std::ranges::move(more.effects, std::back_inserter(decision.effects));
}

/// Whoever comes may go on with it: it is theirs, or the daemon's own, kept for whoever comes.
bool may_use(const LiveSession& live, const Owner& caller, const State& state) {
    if (live.is_hosted()) return true;
    const auto owner = live.owner(state.owner_hosts());
    if (owner.kind != caller.kind) return false;
    if (owner.kind != OwnerKind::lease) return owner.process == caller.process;
    // Nobody can look at its holder: two are told apart by what they say of themselves.
    return owner.host == caller.host && owner.command == caller.command &&
           owner.process.pid == caller.process.pid;
}

/// A new session; what the message does not say of it is as in the one before.
Decided<RoutedReply> open_new(Route&& route, const State& state) {
    Create create;
    create.draft = std::move(route.draft);
    create.fresh_id = true;
    auto opened = open_session(std::move(create), nullptr, state);
    Decided<RoutedReply> decided{static_cast<Decision&&>(opened), RoutedReply{}};
    if (!opened.reply) return refuse(std::move(opened.reply.error()));
    decided.reply->session = std::move(*opened.reply);
    decided.reply->is_new = true;
    return decided;
}

void take_after(Session& draft, const SessionId& parent, std::string_view platform,
                std::string_view user_id, std::string_view chat_type, std::string_view cwd) {
    draft.parent_id = parent;
    draft.relation = Relation::reset;
    if (draft.platform.empty()) draft.platform = platform;
    if (draft.user_id.empty()) draft.user_id = user_id;
    if (draft.chat_type.empty()) draft.chat_type = chat_type;
    if (draft.cwd.empty()) draft.cwd = cwd;
}

/// The one before was reset, or has to be by now and ended before that for another reason.
Decided<RoutedReply> open_after(Route&& route, const Session& prior, const State& state) {
    take_after(route.draft, prior.id, prior.platform, prior.user_id, prior.chat_type, prior.cwd);
    const auto child = route.draft.id;
    const auto& policy =
        state.reset_policies().of({prior.source, prior.platform, prior.chat_type, prior.key});
    auto decided = open_new(std::move(route), state);
    if (!decided.reply) return decided;
    // A reset has dealt with what ran; whatever else ended it left that as it was.
    if (!is_reset(prior.end->reason)) {
        const auto& opened = std::get<Opened>(decided.changes.front()).session;
        settle_processes_of_ended(decided,
                                  event_about(opened, EventType::notice, opened.started_at),
                                  prior.id, policy, state);
    }
    if (policy.on_reset == OnReset::keep) {
        hand_processes_over(decided, prior.id, child, 1, state);
    }
    return decided;
}

/// It is open and past its policy, or suspended: it ends in that way, and the next begins.
Decided<RoutedReply> replace(Route&& route, const LiveSession& live, EndPath path, End&& end,
                             std::optional<ResetKind> kind, const State& state) {
    const auto prior = live.id();
    const auto child = route.draft.id;
    take_after(route.draft, prior, live.platform(), live.user_id(), live.chat_type(), live.cwd());
    Decided<RoutedReply> decided;
    end_by_reset(decided, path, live, std::move(end), child, state);
    auto opened = open_new(std::move(route), state);
    if (!opened.reply) return refuse(std::move(opened.reply.error()));
    decided.reply = std::move(*opened.reply);
    add(decided, std::move(opened));
    if (state.policy_of(live).on_reset == OnReset::keep) {
        hand_processes_over(decided, prior, child, 1, state);
    }
    decided.reply->auto_reset = RoutedReply::AutoReset{prior, std::string(reset_word(kind))};
    return decided;
}

Decided<RoutedReply> reset_open(Route&& route, const LiveSession& live,
                                std::optional<ResetKind> kind, const State& state) {
    return replace(std::move(route), live, EndPath::reset_by_message,
                   end_by_policy(EndPath::reset_by_message, live, kind, state), kind, state);
}

/// Nobody owns it any more: the conversation goes on in its next generation.
Decided<RoutedReply> open_again(Route&& route, const SessionId& id, std::string_view title,
                                const Session* past, const State& state) {
    Resume resume;
    resume.session_id = id;
    resume.owner = std::move(route.draft.owner);
    // A message names what it opens; over a name that stands it is put no more than on an open one.
    if (title.empty()) resume.title = std::move(route.draft.title);
    resume.cwd = std::move(route.draft.cwd);
    resume.on_owner_loss = route.draft.on_owner_loss;
    resume.park_window = route.draft.park_window;
    resume.said_by = std::move(route.said_by);
    auto opened = decide_on(std::move(resume), past, state);
    if (!opened.reply) return refuse(std::move(opened.reply.error()));
    for (auto& change : opened.changes) {
        if (auto* reopened = std::get_if<Reopened>(&change)) {
            reopened->is_interaction = !route.is_automatic;
        }
    }
    Decided<RoutedReply> decided{static_cast<Decision&&>(opened), RoutedReply{}};
    decided.reply->session = std::move(*opened.reply);
    decided.reply->is_resumed = true;
    return decided;
}

/// It is open, theirs, and goes on.
Decided<RoutedReply> go_on(const Route& route, const LiveSession& live, const State& state) {
    const auto id = live.id();
    RoutedReply reply;
    reply.session = {id, live.generation(), live.status(),
                     live.is_hosted() ? std::chrono::seconds{0} : live.lease_ttl()};
    auto decided = reply_with(std::move(reply));
    clear_uncertainty(decided, id, live);
    keep_first_sign(decided, id, live, state);
    decided.renewals.push_back(id);
    if (!route.is_automatic) decided.interactions.push_back(id);
    return decided;
}

/// It was opened again, and its reset is due; but what runs in it holds that, whoever is gone.
Decided<RoutedReply> hold_reopened(Decided<RoutedReply>&& decided, ResetKind kind,
                                   const ResetPolicy& policy, bool is_automatic, HeldReset&& held) {
    if (!decided.reply) return std::move(decided);
    // After a machine's message it stays due, and is told when it is looked at.
    if (!is_automatic) tell_deferred_of_reopened(decided, kind, policy, held.blockers);
    decided.reply->held = std::move(held);
    return std::move(decided);
}

Decided<RoutedReply> route_to_open(Route&& route, const LiveSession& live, const State& state) {
    const bool is_ownerless = live.parked_since() || departed(live, state);
    if (!is_ownerless && !may_use(live, route.draft.owner, state)) {
        return refuse(owned_by(live, state));
    }
    // A person's word, or the gateway's: it waits for nothing.
    const bool is_suspended = live.suspended_at().has_value();
    const auto kind = is_suspended ? std::nullopt : state.reset_due(live);
    const auto& policy = state.policy_of(live);
    std::vector<Blocker> blockers;
    if (kind) blockers = blockers_by_policy(live.id(), policy, state);
    if (is_suspended || (kind && blockers.empty())) {
        // Where its owner is gone, that is what ends it.
        if (auto gone = departed(live, state)) {
            return replace(std::move(route), live, gone->path, std::move(gone->end), kind, state);
        }
        return reset_open(std::move(route), live, kind, state);
    }
    const bool is_automatic = route.is_automatic;
    auto decided = is_ownerless
                       ? open_again(std::move(route), live.id(), live.title(), nullptr, state)
                       : go_on(route, live, state);
    if (!decided.reply || !kind) return decided;
    HeldReset held{live.reset_held_since().value_or(state.time_for(live)), last_let_go(blockers),
                   blockers};
    if (is_ownerless) {
        return hold_reopened(std::move(decided), *kind, policy, is_automatic, std::move(held));
    }
    decided.reply->held = std::move(held);
    if (is_automatic) {
        defer_reset(decided, live, *kind, std::move(blockers), state);
    } else {
        // Somebody talks to it: it is not due any more.
        tell_deferred(decided, live, *kind, std::move(blockers), state);
        let_go_of_reset(decided, live);
    }
    return decided;
}

/// It ended without anybody meaning to: it goes on, unless it is suspended or past its policy, and
/// nothing holds that.
Decided<RoutedReply> route_to_ended(Route&& route, const Session& past, const State& state) {
    const auto& policy =
        state.reset_policies().of({past.source, past.platform, past.chat_type, past.key});
    std::optional<ResetKind> kind;
    if (!past.suspended_at) {
        // As if the clock had never been set: a gateway that was away for a second was not away
        // for two hours because of that.
        kind = state.reset_due(policy, state.unset(past.last_interaction_at));
        if (!kind) return open_again(std::move(route), past.id, past.title, &past, state);
        auto blockers = blockers_by_policy(past.id, policy, state);
        if (!blockers.empty()) {
            const bool is_automatic = route.is_automatic;
            const auto now = std::max(state.now().wall, past.end->ended_before);
            return hold_reopened(open_again(std::move(route), past.id, past.title, &past, state),
                                 *kind, policy, is_automatic,
                                 {now, last_let_go(blockers), blockers});
        }
    }
    auto decided = open_after(std::move(route), past, state);
    if (decided.reply) {
        decided.reply->auto_reset = RoutedReply::AutoReset{past.id, std::string(reset_word(kind))};
    }
    return decided;
}

std::string word_of(Reason reason) {
    if (reason == Reason::idle_expiry) return std::string(reset_word(ResetKind::idle));
    if (reason == Reason::daily_reset) return std::string(reset_word(ResetKind::daily));
    return {};
}

}  // namespace

Decided<Route::Reply> decide_on(Route&& route, const Session* tip, const State& state) {
    const auto* live = state.find_by_key(route.draft.key);
    if (live == nullptr && tip != nullptr && !tip->end) live = state.find(tip->id);
    if (live != nullptr) return route_to_open(std::move(route), *live, state);
    if (tip == nullptr) return open_new(std::move(route), state);

    const auto reason = tip->end->reason;
    if (goes_on(reason)) return route_to_ended(std::move(route), *tip, state);
    if (!is_reset(reason)) return open_new(std::move(route), state);
    auto decided = open_after(std::move(route), *tip, state);
    // The watcher came first; whoever sent the message is told as if it had not.
    if (auto why = word_of(reason); decided.reply && !why.empty()) {
        decided.reply->auto_reset = RoutedReply::AutoReset{tip->id, std::move(why)};
    }
    return decided;
}

}  // namespace knell
