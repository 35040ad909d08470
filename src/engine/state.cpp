#include "engine/state.hpp"

#include <ranges>
#include <utility>

#include "base/check.hpp"

namespace knell {

void State::adopt(const Session& session) {
    insert(LiveSession(session, realms_));
    undo_.clear();
}

void State::begin(Now now) {
    // Left over from a step that held its leases: the same crowd, however long going through it
    // takes.
    if (!due_.empty() && now_.steady < hold_until_) hold_until_ = now.steady + LeaseCensus::window;
    now_ = now;
    fired_.clear();
    wheel_.advance(now.steady, fired_);
    for (const auto slot : fired_) {
        const auto& live = table_.at(slot);
        // Renewed since it was put in the wheel: moved only now, so that a beat costs one store.
        if (live.deadline() > now.steady) {
            wheel_.schedule(slot, live.deadline());
        } else {
            due_.push_back({slot, live.ordinal()});
        }
    }
}

const LiveSession* State::find(const SessionId& id) const {
    const auto slot = table_.find(id.text());
    return slot == LiveTable::none ? nullptr : &table_.at(slot);
}

const OwnerEntry* State::owner_of(const LiveSession& live) const {
    const auto number = live.owner_link().owner;
    return number == OwnerTable::none ? nullptr : &owners_.at(number);
}

// --- entering, leaving, changing in place -------------------------------------------------------

SteadyTime State::first_deadline(const LiveSession& live) const {
    if (live.parked_since()) return now_.steady + live.park_window();
    if (live.stalled_since() || !live.has_lease()) return LiveSession::no_deadline;
    // Stalled means provably alive, which cannot be said of a process that cannot be checked.
    const bool is_process = live.owner_kind() == OwnerKind::process;
    if (is_process && live.unknown_since()) return LiveSession::no_deadline;
    return now_.steady + live.lease_ttl();
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

void State::insert(LiveSession&& live) {
    undo_.push_back({SessionId(std::string(live.id())), std::nullopt});
    live.owner_link() = {};
    if (live.deadline() == LiveSession::no_deadline) live.set_deadline(first_deadline(live));
    const auto slot = table_.insert(std::move(live));
    auto& placed = table_.at(slot);
    ++counts_.at(static_cast<std::size_t>(placed.status()));
    count_lease(placed, /*in=*/true);
    if (placed.deadline() != LiveSession::no_deadline) wheel_.schedule(slot, placed.deadline());
    if (placed.owner_kind() == OwnerKind::process && !placed.parked_since()) {
        owners_.link(table_, slot, placed.owner(realms_).process);
    }
    if (placed.is_seen_unsaved()) unsaved_.push_back({slot, placed.ordinal()});
}

LiveSession State::erase(Slot slot) {
    owners_.unlink(table_, slot);
    wheel_.cancel(slot);
    const auto& live = table_.at(slot);
    count_lease(live, /*in=*/false);
    --counts_.at(static_cast<std::size_t>(live.status()));
    return table_.erase(slot);
}

template <typename Change>
void State::modify(const SessionId& id, Change&& change) {
    const auto slot = table_.find(id.text());
    CHECK(slot != LiveTable::none);
    auto& live = table_.at(slot);
    undo_.push_back({id, live});
    --counts_.at(static_cast<std::size_t>(live.status()));
    change(slot, live);
    ++counts_.at(static_cast<std::size_t>(live.status()));
}

void State::set_deadline(Slot slot, SteadyTime deadline) {
    auto& live = table_.at(slot);
    count_lease(live, /*in=*/false);
    live.set_deadline(deadline);
    count_lease(live, /*in=*/true);
    if (deadline == LiveSession::no_deadline) {
        wheel_.cancel(slot);
    } else {
        wheel_.schedule(slot, deadline);
    }
}

// --- the one door -------------------------------------------------------------------------------

void State::open(const Opened& change) {
    CHECK(change.session.ordinal == heads_.ordinal + 1);
    ++heads_.ordinal;
    LiveSession live(change.session, realms_);
    live.set_reaper(change.reaper);
    insert(std::move(live));
}

void State::open(const Reopened& change) {
    // A live one that is taken over leaves with its old owner and comes back with the new.
    LiveSession live;
    if (change.past) {
        live = LiveSession(*change.past, realms_);
    } else {
        const auto slot = table_.find(change.id.text());
        CHECK(slot != LiveTable::none);
        undo_.push_back({change.id, table_.at(slot)});
        live = erase(slot);
    }
    live.set_turn(std::nullopt);
    live.set_doubt(std::nullopt, std::nullopt);
    live.set_parked(std::nullopt);
    live.set_generation(change.generation);
    live.set_leftovers(change.leftovers);
    live.set_reaper(change.reaper);
    live.set_owner(change.owner, change.on_owner_loss, change.park_window, realms_);
    live.set_seen(change.at, /*unsaved=*/false);
    live.set_deadline(LiveSession::no_deadline);
    insert(std::move(live));
}

void State::end(const Ended& change) {
    const auto slot = table_.find(change.id.text());
    CHECK(slot != LiveTable::none);
    undo_.push_back({change.id, table_.at(slot)});
    erase(slot);
    ended_.insert(change.id);
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
                state.postpone(slot);
            });
        }
        void operator()(const TurnSet& c) {
            state.modify(c.id, [&](Slot slot, LiveSession& live) {
                live.set_turn(c.turn_since);
                live.set_seen(c.at, /*unsaved=*/false);
                state.postpone(slot);
            });
        }
        void operator()(const DoubtSet& c) {
            state.modify(c.id, [&](Slot slot, LiveSession& live) {
                live.set_doubt(c.unknown_since, c.stalled_since);
                if (live.has_lease()) state.set_deadline(slot, state.first_deadline(live));
            });
        }
        void operator()(const Parked& c) {
            state.modify(c.id, [&](Slot slot, LiveSession& live) {
                state.owners_.unlink(state.table_, slot);
                state.count_lease(live, /*in=*/false);
                live.set_deadline(LiveSession::no_deadline);
                live.set_parked(c.since);
                live.set_turn(std::nullopt);
                live.set_doubt(std::nullopt, std::nullopt);
                state.set_deadline(slot, state.first_deadline(live));
            });
        }
        // Ended sessions are in the store only.
        void operator()(const LeftoversSettled&) {}
        void operator()(const Seen& c) {
            state.modify(c.id,
                         [&](Slot, LiveSession& live) { live.set_seen(c.at, /*unsaved=*/false); });
        }
    };
    std::visit(Door{*this}, change);
}

// --- what lives in memory alone -----------------------------------------------------------------

void State::postpone(Slot slot) {
    auto& live = table_.at(slot);
    if (!live.has_lease() || live.parked_since()) return;
    count_lease(live, /*in=*/false);
    live.set_deadline(first_deadline(live));
    count_lease(live, /*in=*/true);
    // Never moved in the wheel, see `begin`: one store a beat.
    if (live.deadline() == LiveSession::no_deadline || wheel_.contains(slot)) return;
    wheel_.schedule(slot, live.deadline());
}

void State::renew(const SessionId& id) {
    const auto slot = table_.find(id.text());
    CHECK(slot != LiveTable::none);
    auto& live = table_.at(slot);
    if (!live.is_seen_unsaved()) unsaved_.push_back({slot, live.ordinal()});
    live.set_seen(now_.wall, /*unsaved=*/true);
    postpone(slot);
}

void State::mark_gone(const OwnerGone& gone) {
    const auto number = owners_.find(gone.process);
    if (number == OwnerTable::none) return;
    auto& entry = owners_.at(number);
    if (entry.gone) return;
    entry.gone = true;
    entry.departure = gone.departure;
    entry.found = gone.found;
    gone_.push_back(number);
}

// --- work ---------------------------------------------------------------------------------------

std::optional<Slot> State::next_of_gone_owner() {
    while (!gone_.empty()) {
        const auto& entry = owners_.at(gone_.back());
        if (entry.gone && entry.sessions > 0) return entry.first;
        done_with_.push_back(gone_.back());
        gone_.pop_back();
    }
    return std::nullopt;
}

std::optional<Slot> State::next_due() {
    while (!due_.empty()) {
        const auto [slot, ordinal] = due_.front();
        due_.pop_front();
        const auto& live = table_.at(slot);
        if (live.ordinal() != ordinal) continue;  // ended meanwhile
        if (live.deadline() <= now_.steady) return slot;
        if (live.deadline() != LiveSession::no_deadline && !wheel_.contains(slot)) {
            wheel_.schedule(slot, live.deadline());
        }
    }
    return std::nullopt;
}

std::optional<Slot> State::next_work() {
    if (const auto slot = next_of_gone_owner()) return slot;
    return next_due();
}

bool State::holds_leases() {
    if (now_.steady < hold_until_) return true;
    if (!census_.is_mass_expiry(now_.steady)) return false;
    hold_until_ = now_.steady + LeaseCensus::window;
    return true;
}

std::optional<Slot> State::next_unsaved() {
    while (!unsaved_.empty()) {
        const auto [slot, ordinal] = unsaved_.front();
        unsaved_.pop_front();
        const auto& live = table_.at(slot);
        if (live.ordinal() == ordinal && live.is_seen_unsaved()) return slot;
    }
    return std::nullopt;
}

// --- the batch ----------------------------------------------------------------------------------

std::vector<Effect> State::settle() {
    undo_.clear();
    ended_.clear();
    done_with_.clear();
    heads_before_ = heads_;
    std::vector<Effect> effects;
    for (const auto number : owners_.take_touched()) {
        auto& entry = owners_.at(number);
        if (entry.process.pid == 0) continue;  // dropped already
        if (entry.sessions > 0) {
            if (!std::exchange(entry.watched, true))
                effects.emplace_back(WatchOwner{entry.process});
            continue;
        }
        if (entry.watched) effects.emplace_back(UnwatchOwner{entry.process});
        owners_.drop(number);
    }
    return effects;
}

void State::revert() {
    auto undone = std::exchange(undo_, {});
    for (auto& undo : undone | std::views::reverse) {
        const auto slot = table_.find(undo.id.text());
        if (slot != LiveTable::none) erase(slot);
        if (undo.before) insert(std::move(*undo.before));
    }
    heads_ = heads_before_;
    undo_.clear();
    ended_.clear();
    // Their sessions are back, and nobody will say again that these owners are gone.
    gone_.insert(gone_.end(), done_with_.begin(), done_with_.end());
    done_with_.clear();
}

}  // namespace knell
