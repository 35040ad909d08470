// The tables of open sessions: entering, leaving, changing in place, and the one door to that.

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "core/limits.hpp"
#include "engine/state.hpp"

namespace knell {

namespace {

/// Who is there for the turn once that is set.
std::vector<ClientId> with_turn_client(const LiveSession& live, const TurnSet& change) {
    if (!change.turn_since) return {};
    auto clients = live.turn_clients();
    if (change.client == ClientId::none || live.has_turn_client(change.client)) return clients;
    if (clients.size() == limits::clients_per_session_max) clients.erase(clients.begin());
    clients.push_back(change.client);
    return clients;
}

}  // namespace

SteadyTime State::first_deadline(const LiveSession& live, SteadyTime from) const {
    if (live.parked_since()) return from + live.park_window();
    if (live.is_hosted()) {
        if (live.is_held()) return LiveSession::no_deadline;
        const bool waits_for_turn = live.turn_since() && !live.stalled_since();
        return from + (waits_for_turn ? live.turn_window() : live.lease_ttl());
    }
    if (live.stalled_since() || !live.has_lease()) return LiveSession::no_deadline;
    // Stalled means provably alive, which cannot be said of a process that cannot be checked.
    const bool is_process = live.owner_kind() == OwnerKind::process;
    if (is_process && live.unknown_since()) return LiveSession::no_deadline;
    return from + live.lease_ttl();
}

void State::count_lease(const LiveSession& live, bool in) {
    const bool counts = live.owner_kind() == OwnerKind::lease && !live.parked_since() &&
                        live.deadline() != LiveSession::no_deadline;
    if (!counts) return;
    if (in) {
        census_.add(live.deadline());
    } else {
        census_.remove(live.deadline());
    }
}

void State::count(const LiveSession& live, bool in) {
    const auto add = [in](std::size_t& count, bool counts) {
        if (counts) count += in ? 1 : static_cast<std::size_t>(-1);
    };
    add(counts_.at(static_cast<std::size_t>(live.status())), true);
    add(silent_count_, live.is_silent_since_start());
    add(parked_count_, live.parked_since().has_value());
    add(held_reset_count_, live.reset_held_since().has_value());
}

Slot State::insert(LiveSession&& live) {
    undo_.push_back({live.id(), std::nullopt});
    live.owner_link() = {};
    if (live.deadline() == LiveSession::no_deadline)
        live.set_deadline(first_deadline(live, now_.steady));
    const auto slot = table_.insert(std::move(live));
    auto& placed = table_.at(slot);
    keys_.insert(table_, slot);
    count(placed, /*in=*/true);
    count_lease(placed, /*in=*/true);
    schedule(slot);
    if (placed.owner_kind() == OwnerKind::process && !placed.parked_since()) {
        owners_.link(table_, slot, placed.owner(owner_hosts_).process);
    }
    if (placed.is_seen_unsaved()) unsaved_.push_back({slot, placed.ordinal()});
    if (placed.is_interaction_unsaved()) {
        interactions_unsaved_.push_back({slot, placed.ordinal()});
    }
    schedule_reset(slot);
    return slot;
}

LiveSession State::erase(Slot slot) {
    owners_.unlink(table_, slot);
    wheel_.cancel(slot);
    daily_due_.cancel(slot);
    idle_due_.cancel(slot);
    keys_.erase(table_, slot);
    const auto& live = table_.at(slot);
    count_lease(live, /*in=*/false);
    count(live, /*in=*/false);
    return table_.erase(slot);
}

void State::keep_for_revert(Slot slot) {
    const auto& live = table_.at(slot);
    undo_.push_back({live.id(), live});
}

template <typename Change>
void State::modify(const SessionId& id, Change&& change) {
    const auto slot = table_.find(id.text());
    CHECK(slot != LiveTable::none);
    auto& live = table_.at(slot);
    keep_for_revert(slot);
    believe_clock(live);
    count(live, /*in=*/false);
    change(slot, live);
    count(live, /*in=*/true);
}

void State::set_deadline(Slot slot, SteadyTime deadline) {
    auto& live = table_.at(slot);
    count_lease(live, /*in=*/false);
    live.set_deadline(deadline);
    count_lease(live, /*in=*/true);
    schedule(slot);
}

void State::begin_window(Slot slot) {
    auto& live = table_.at(slot);
    live.set_silent_since_start(false);
    set_deadline(slot, first_deadline(live, now_.steady));
}

void State::expect_detach(LiveSession& live) const {
    const bool will_tell = live.is_attach_told() && live.clients().empty();
    live.set_tell_detach_at(will_tell ? now_.steady + limits::detach_told_after
                                      : LiveSession::no_deadline);
}

void State::schedule(Slot slot) {
    const auto next = table_.at(slot).next_deadline();
    if (next == LiveSession::no_deadline) {
        wheel_.cancel(slot);
    } else {
        wheel_.schedule(slot, next);
    }
}

// --- the one door -------------------------------------------------------------------------------

void State::open(const Opened& change) {
    CHECK(change.session.ordinal == heads_.ordinal + 1);
    ++heads_.ordinal;
    note_begin(change.session.owner.since);
    LiveSession live(change.session, owner_hosts_, texts_, clock_for(change.session.owner.since));
    live.set_reaper(change.reaper, change.reaper_is_parent);
    opened_.push_back({insert(std::move(live)), change.session.ordinal});
}

void State::open(const Reopened& change) {
    note_begin(change.owner.since);
    // A spooled life began before it is opened: the session's clock goes on from what is on record.
    const auto clock = clock_for(std::max(change.owner.since, change.at));
    // A live one that is taken over leaves with its old owner and comes back with the new.
    LiveSession live;
    if (change.past) {
        live = LiveSession(*change.past, owner_hosts_, texts_, clock);
        live.set_key_taken(change.key_taken);
    } else {
        const auto slot = table_.find(change.id.text());
        CHECK(slot != LiveTable::none);
        keep_for_revert(slot);
        live = erase(slot);
    }
    live.set_turn(std::nullopt);
    live.set_turn_clients({});
    live.set_doubt(std::nullopt, std::nullopt);
    live.set_parked(std::nullopt, std::nullopt, {});
    live.set_background(std::nullopt);
    live.set_generation(change.generation);
    live.set_leftovers(change.leftovers);
    live.set_reaper(change.reaper, change.reaper_is_parent);
    live.set_former_owners(change.former_owners);
    if (!change.title.empty()) live.set_title(change.title);
    if (!change.cwd.empty()) live.set_cwd(change.cwd, texts_);
    live.set_owner(change.owner, change.on_owner_loss, change.park_window, owner_hosts_, clock);
    live.set_detached(live.clients().empty() ? detached_by(change) : std::nullopt);
    live.set_seen(change.at, /*unsaved=*/false);
    live.set_deadline(LiveSession::no_deadline);
    live.set_silent_since_start(false);
    live.set_adopted(false);
    live.set_reset_held(std::nullopt, {}, std::nullopt);
    if (change.is_interaction) note_interaction(live);
    opened_.push_back({insert(std::move(live)), change.ordinal});
}

void State::end(const Ended& change) {
    const auto slot = table_.find(change.id.text());
    CHECK(slot != LiveTable::none);
    keep_for_revert(slot);
    if (const auto key = table_.at(slot).key(); !key.empty()) ended_keys_.emplace(key);
    erase(slot);
    guards_.forget(change.ordinal);
    ended_.insert(change.id);
}

void State::set_background(const BackgroundSet& change) {
    modify(change.id, [&](Slot slot, LiveSession& live) {
        live.set_background(change.since);
        live.set_detached(detached_after(change, live.detached_since()));
        if (change.lease_from) begin_window(slot);
    });
}

void State::apply(const Change& change) {
    struct Door {
        State& state;
        void operator()(const Opened& c) { state.open(c); }
        void operator()(const Reopened& c) { state.open(c); }
        void operator()(const Ended& c) { state.end(c); }
        void operator()(const Appended& c) {
            state.modify(c.id, [&](Slot slot, LiveSession& live) {
                live.set_tally(c.tally);
                live.set_seen(c.at, /*unsaved=*/false);
                if (c.is_interaction) {
                    state.note_interaction(live);
                    state.look_at_reset_again(slot);
                }
                state.postpone(slot);
            });
        }
        void operator()(const MessagesCopied& c) {
            state.modify(c.id, [&](Slot, LiveSession& live) { live.set_tally(c.tally); });
        }
        void operator()(const TurnSet& c) {
            state.modify(c.id, [&](Slot slot, LiveSession& live) {
                live.set_turn(c.turn_since);
                live.set_detached(detached_after(c, live.detached_since()));
                live.set_seen(c.at, /*unsaved=*/false);
                if (c.is_interaction) state.note_interaction(live);
                state.schedule_reset(slot);
                if (c.is_interaction) state.look_at_reset_again(slot);
                if (!live.is_hosted()) return state.postpone(slot);
                live.set_turn_clients(with_turn_client(live, c));
                live.set_turn_window(c.window);
                state.begin_window(slot);
            });
        }
        void operator()(const LivenessMarked& c) {
            state.modify(c.id, [&](Slot slot, LiveSession& live) {
                state.set_doubt(live, c.unknown_since, c.stalled_since);
                if (live.has_lease())
                    state.set_deadline(slot, state.first_deadline(live, state.now_.steady));
            });
        }
        void operator()(const Parked& c) {
            state.modify(c.id, [&](Slot slot, LiveSession& live) {
                state.owners_.unlink(state.table_, slot);
                state.count_lease(live, /*in=*/false);
                live.set_deadline(LiveSession::no_deadline);
                live.set_parked(c.since, c.before, c.why);
                live.set_silent_since_start(false);
                live.set_turn(std::nullopt);
                live.set_turn_clients({});
                live.set_doubt(std::nullopt, std::nullopt);
                state.schedule_reset(slot);
                state.set_deadline(slot, state.first_deadline(live, state.now_.steady));
            });
        }
        void operator()(const AttachmentSet& c) {
            state.modify(c.id, [&](Slot slot, LiveSession& live) {
                auto clients = live.clients();
                std::erase(clients, c.left);
                if (c.joined != ClientId::none) clients.push_back(c.joined);
                live.set_clients(std::move(clients));
                live.set_attach_told(c.told);
                live.set_detached(c.detached_since);
                state.expect_detach(live);
                if (c.lease_from) return state.begin_window(slot);
                state.schedule(slot);
            });
        }
        void operator()(const Labelled& c) {
            if (state.find(c.id) == nullptr) return;
            state.modify(c.id, [&](Slot, LiveSession& live) { live.set_title(c.labels.title); });
        }
        void operator()(const Interacted& c) {
            state.modify(c.id, [&](Slot, LiveSession& live) {
                live.set_interaction(live.interaction(), /*unsaved=*/false);
            });
        }
        void operator()(const Suspended& c) {
            if (state.find(c.id) == nullptr) return;
            state.modify(c.id, [&](Slot, LiveSession& live) { live.set_suspended(c.at, c.why); });
        }
        void operator()(const KeyTaken& c) {
            state.modify(c.id, [&](Slot slot, LiveSession& live) {
                state.keys_.erase(state.table_, slot);
                live.set_key_taken(true);
            });
        }
        void operator()(const ResetHeld& c) {
            state.modify(c.id, [&](Slot slot, LiveSession& live) {
                live.set_reset_held(c.since, c.by, c.look_again_at);
                state.schedule_reset(slot);
            });
        }
        void operator()(const BackgroundSet& c) { state.set_background(c); }
        void operator()(const ProcessOpened& c) { state.open(c); }
        void operator()(const ProcessEnded& c) { state.end(c); }
        void operator()(const ProcessMarked& c) { state.change(c); }
        void operator()(const ProcessVouched& c) { state.change(c); }
        void operator()(const ProcessStopAsked& c) { state.change(c); }
        void operator()(const ProcessHandedOver& c) { state.change(c); }
        // Ended sessions are in the store only.
        void operator()(const LeftoversSettled&) {}
        void operator()(const Seen& c) {
            state.modify(c.id, [&](Slot slot, LiveSession& live) {
                live.set_seen(c.at, /*unsaved=*/false);
                if (c.lease_from) live.set_silent_since_start(false);
                if (c.turn_client_left == ClientId::none) return;
                auto clients = live.turn_clients();
                std::erase(clients, c.turn_client_left);
                live.set_turn_clients(std::move(clients));
                if (c.lease_from) state.begin_window(slot);
            });
        }
    };
    std::visit(Door{*this}, change);
}

}  // namespace knell
