// Which cell of the transition table a step was in.

#include <algorithm>
#include <set>

#include "world.hpp"

namespace knell::sim {

/// What each session is before a step: from memory while the daemon is up, else from its row.
std::map<std::string, Before> World::states() {
    std::map<std::string, Before> states;
    for (const auto& [id, known] : ledger_.sessions()) {
        states[id] = known.open ? Before::idle : Before::ended;
        if (!known.open || !node_.is_up()) continue;
        if (const auto* live = node_.write_step().state().find(SessionId(id))) {
            // One that is parked has a window also while clients look at it.
            states[id] = live->parked_since() ? Before::detached : before_of(live->status());
        }
    }
    if (node_.is_up()) {
        last_states_ = states;
        return states;
    }
    return last_states_;
}

Before World::before(const std::map<std::string, Before>& states, const SessionId& id) const {
    const auto found = states.find(id.text());
    return found == states.end() ? Before::never : found->second;
}

void World::count(const StepFacts& facts, const std::map<std::string, Before>& states_before) {
    std::set<SessionId> touched;
    for (const auto& said : facts.said) {
        const auto* subject = subject_of(said.input);
        // What comes second meets a state that the first has made.
        if (subject != nullptr && !touched.insert(*subject).second) continue;
        count_said(said, states_before);
    }
    for (const auto& event : facts.told) count_told(event, states_before);
    for (const auto& [id, state] : states()) {
        if (state != Before::detached || before(states_before, SessionId(id)) == state) continue;
        if (ledger_.sessions().at(id).lives.rbegin()->second.owner.kind == OwnerKind::hosted)
            continue;
        if (!touched.contains(SessionId(id))) {
            coverage_.count(Happening::owner_gone_parks, before(states_before, SessionId(id)));
        }
    }
}

void World::count_said(const Said& said, const std::map<std::string, Before>& states) {
    const auto is_right = [&](const SessionId& id, Generation generation) {
        const auto* known = ledger_.find(id);
        return known != nullptr && before(states, id) != Before::never &&
               known->lives.rbegin()->first == generation;
    };
    const auto* subject = subject_of(said.input);
    const auto was = subject != nullptr ? before(states, *subject) : Before::never;
    if (subject != nullptr && !said.reply && said.reply.error().code == ErrorCode::storage) {
        return coverage_.count(Happening::store_refused, was);
    }
    if (const auto* create = as<Create>(said.input)) {
        coverage_.count(create->and_close ? Happening::create_and_close : Happening::create, was);
    } else if (const auto* resume = as<Resume>(said.input)) {
        coverage_.count(resume->and_close  ? Happening::resume_and_close
                        : resume->takeover ? Happening::takeover
                                           : Happening::resume,
                        was);
    } else if (const auto* append = as<Append>(said.input)) {
        const bool right = is_right(append->session_id, append->generation);
        coverage_.count(right ? Happening::append : Happening::append_wrong, was);
    } else if (const auto* close = as<Close>(said.input)) {
        coverage_.count(!close->generation                                ? Happening::close_any
                        : is_right(close->session_id, *close->generation) ? Happening::close
                                                                          : Happening::close_wrong,
                        was);
    } else if (const auto* turn = as<Turn>(said.input)) {
        const auto right = turn->on ? Happening::turn_on : Happening::turn_off;
        coverage_.count(
            is_right(turn->session_id, turn->generation) ? right : Happening::turn_wrong, was);
    } else if (const auto* heartbeat = as<Heartbeat>(said.input)) {
        for (const auto& beat : heartbeat->beats) {
            const bool right = is_right(beat.session_id, beat.generation);
            coverage_.count(right ? Happening::beat : Happening::beat_wrong,
                            before(states, beat.session_id));
        }
    } else if (const auto* route = as<Route>(said.input)) {
        coverage_.count(Happening::message, before_of_named({}, route->draft.key, states));
    } else if (const auto* suspend = as<Suspend>(said.input)) {
        coverage_.count(Happening::suspended,
                        before_of_named(suspend->name.session_id, suspend->name.key, states));
    } else if (const auto* reset = as<Reset>(said.input)) {
        coverage_.count(Happening::reset_by_person,
                        before_of_named(reset->name.session_id, reset->name.key, states));
    } else if (as<Branch>(said.input) != nullptr) {
        coverage_.count(Happening::branched, was);
    } else if (as<Compress>(said.input) != nullptr) {
        coverage_.count(Happening::compressed, was);
    } else if (as<Attach>(said.input) != nullptr) {
        coverage_.count(Happening::attach, was);
    } else if (as<Detach>(said.input) != nullptr) {
        coverage_.count(Happening::detach, was);
    } else if (const auto* left = as<ClientGone>(said.input)) {
        for (const auto& id : left->sessions) count_left(id, states);
    } else if (const auto* unknown = as<OwnerUnknown>(said.input)) {
        count_owner(Happening::owner_unknown, unknown->process, states);
    } else if (const auto* alive = as<OwnerAlive>(said.input)) {
        count_owner(Happening::owner_alive, alive->process, states);
    }
}

/// Of a key, the newest that was open, or else any.
Before World::before_of_named(const SessionId& id, const std::string& key,
                              const std::map<std::string, Before>& states) const {
    if (!id.empty()) return before(states, id);
    auto found = Before::never;
    std::size_t newest = 0;
    for (const auto& [name, one] : ledger_.conversations.all()) {
        const auto was = one.key == key ? before(states, SessionId(name)) : Before::never;
        if (was == Before::never || (was == Before::ended && found != Before::never)) continue;
        const bool is_better =
            found == Before::never || found == Before::ended || one.place > newest;
        if (!is_better) continue;
        found = was;
        newest = one.place;
    }
    return found;
}

void World::count_left(const SessionId& id, const std::map<std::string, Before>& states) {
    const auto was = before(states, id);
    const bool may_be_held =
        was != Before::never && was != Before::ended && was != Before::detached;
    if (may_be_held) coverage_.count(Happening::client_gone, was);
}

void World::count_owner(Happening happening, const ProcessIdentity& process,
                        const std::map<std::string, Before>& states) {
    for (const auto& [id, known] : ledger_.sessions()) {
        if (!known.open) continue;
        const auto& life = known.lives.at(known.generation);
        const auto was = before(states, SessionId(id));
        const bool has_owner =
            was != Before::detached && was != Before::ended && was != Before::never;
        if (life.owner.process == process && has_owner) coverage_.count(happening, was);
    }
}

void World::count_told(const Event& event, const std::map<std::string, Before>& states) {
    const auto was = before(states, event.session_id);
    const auto* life = ledger_.life(event.session_id, event.generation);
    // Opened in the same step, or by somebody's word: counted there.
    if (life == nullptr || was == Before::never || was == Before::ended) return;
    if (event.type == EventType::session_stalled) {
        coverage_.count(Happening::stalled_due, was);
    } else if (event.type == EventType::session_unknown && life->owner.kind == OwnerKind::lease) {
        coverage_.count(Happening::lease_held, was);
    }
    if (event.type == EventType::session_reset_deferred) {
        coverage_.count(Happening::reset_deferred, was);
    }
    if (!event.end) return;
    const auto& end = *event.end;
    if (ledger_.may_be_closed(event.session_id, event.generation, end.reason)) return;
    if (end.reason == Reason::reaped) return coverage_.count(Happening::lease_due, was);
    if (end.reason == Reason::detached_expiry) {
        return coverage_.count(Happening::detach_window_over, was);
    }
    if (end.detail == "park window over") {
        return coverage_.count(Happening::park_window_over, was);
    }
    if (end.reason == Reason::idle_expiry) coverage_.count(Happening::idle_too_long, was);
    if (end.reason == Reason::daily_reset) coverage_.count(Happening::day_is_over, was);
    if (end.reason == Reason::auto_reset) coverage_.count(Happening::reset_by_message, was);
    if (was == Before::detached) return;
    if (end.reason == Reason::exited) coverage_.count(Happening::owner_exited, was);
    if (end.reason == Reason::signaled) coverage_.count(Happening::owner_signaled, was);
    if (end.reason == Reason::oom_killed) coverage_.count(Happening::owner_oom_killed, was);
    if (end.reason == Reason::owner_lost) coverage_.count(Happening::owner_lost, was);
    if (end.reason == Reason::completed) coverage_.count(Happening::command_completed, was);
    if (end.reason == Reason::host_restart) coverage_.count(Happening::host_restarted, was);
    if (end.reason == Reason::shutdown) coverage_.count(Happening::daemon_stopped, was);
}

}  // namespace knell::sim
