#include "engine/state.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/check.hpp"

namespace knell {

namespace {

/// Less is drift, or a clock that is being brought back into step.
constexpr std::chrono::seconds clock_step_min{1};
constexpr std::chrono::seconds knock_min{1};

std::chrono::milliseconds clock_step(const Now& before, const Now& now) {
    const auto passed =
        std::chrono::duration_cast<std::chrono::milliseconds>(now.boot - before.boot);
    const auto step = now.wall - before.wall - passed;
    return std::chrono::abs(step) < clock_step_min ? std::chrono::milliseconds{0} : step;
}

/// The newest time on record of what is open.
WallTime newest_in(const Session& session) {
    auto newest = std::max({session.started_at, session.owner.since, session.last_seen_at});
    for (const auto& since :
         {session.parked_since, session.turn_since, session.unknown_since, session.stalled_since}) {
        newest = std::max(newest, since.value_or(newest));
    }
    return newest;
}

}  // namespace

void State::set_heads(const Heads& heads, std::string_view boot_id) {
    heads_ = heads;
    auto& word = heads_.last_word;
    if (word && word->at == WallTime{}) word.reset();  // taken back
    if (word && word->boot_id != boot_id) word->boot_id.clear();
    heads_before_ = heads_;
}

void State::adopt(const Session& session) {
    const auto newest = newest_in(session);
    // What is on record of it is by the clock of then, before it was set while no daemon ran.
    const auto unset = now_.wall - clock_set_;
    LiveSession live(session, owner_hosts_, std::max(newest - unset, std::chrono::milliseconds{0}));
    auto from = now_.steady;
    const bool runs = live.parked_since() || live.owner_kind() == OwnerKind::lease;
    if (runs) {
        const auto next =
            std::ranges::upper_bound(heads_.lives, session.lease_from.value_or(SteadyTime{}));
        if (next != heads_.lives.end()) from = std::min(from, *next);
    }
    auto deadline = first_deadline(live, from);
    // Whoever knocks while we start is heard before anything is decided about it.
    if (deadline != LiveSession::no_deadline)
        deadline = std::max(deadline, now_.steady + knock_min);
    live.set_deadline(deadline);
    live.set_silent_since_start(runs && deadline != LiveSession::no_deadline);
    live.set_adopted(true);
    insert(std::move(live));
    undo_.clear();
}

void State::follow(const SessionId& id, const Session* row) {
    CHECK(undo_.empty());
    if (const auto slot = table_.find(id.text()); slot != LiveTable::none) erase(slot);
    if (row != nullptr) insert(LiveSession(*row, owner_hosts_, clock_for(newest_in(*row))));
    undo_.clear();
}

std::chrono::milliseconds State::step_since_last_word(Now now) {
    if (!heads_.last_word) return {};
    const auto& word = *heads_.last_word;
    if (!word.boot_id.empty()) return clock_step({word.at, word.boot, word.boot}, now);
    if (word.at <= now.wall) return {};
    // From the future, on another boot: by how much the clock was set back nobody can know.
    was_set_back_unseen_ = last_word_stale_ = true;
    heads_.last_word = heads_before_.last_word = std::nullopt;
    return {};
}

void State::begin(Now now) {
    // Left over from a step that held its leases: the same crowd, however long going through it
    // takes.
    if (!due_.empty() && now_.steady < hold_until_) hold_until_ = now.steady + LeaseCensus::window;
    const auto step = has_begun_ ? clock_step(now_, now) : step_since_last_word(now);
    if (step.count() < 0) last_word_stale_ = true;
    clock_set_ += step;
    has_begun_ = true;
    now_ = heard_ = now;
    opened_.clear();
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

// --- time ---------------------------------------------------------------------------------------

std::chrono::milliseconds State::clock_for(WallTime newest) const {
    return clock_set_ + std::max(newest - now_.wall, std::chrono::milliseconds{0});
}

void State::believe_clock(LiveSession& live) {
    if (clock_set_ <= owner_hosts_.clock_of(live.realm())) return;
    live.set_realm(owner_hosts_.with_clock(live.realm(), clock_set_));
}

std::chrono::milliseconds State::set_back_for(const LiveSession& live) const {
    const auto behind = owner_hosts_.clock_of(live.realm()) - clock_set_;
    return std::max(behind, std::chrono::milliseconds{0});
}

std::optional<WallTime> State::last_word_for(const LiveSession& live) const {
    // What was spooled began before that, but nobody watched it then.
    if (!heads_.last_word || !live.is_adopted()) return std::nullopt;
    // The clock's steps are counted from there.
    return heads_.last_word->at + owner_hosts_.clock_of(live.realm());
}

WallTime State::time_for(const LiveSession& live) const {
    return now_.wall + set_back_for(live);
}

WallTime State::earliest_for(const LiveSession& live, std::optional<SteadyTime> boot) const {
    const auto ago = now_.boot - std::min(boot.value_or(now_.boot), now_.boot);
    return time_for(live) - std::chrono::ceil<std::chrono::milliseconds>(ago);
}

WallTime State::latest_for(const LiveSession& live, std::optional<SteadyTime> boot) const {
    const auto ago = now_.boot - std::min(boot.value_or(now_.boot), now_.boot);
    return time_for(live) - std::chrono::floor<std::chrono::milliseconds>(ago);
}

// --- entering, leaving, changing in place -------------------------------------------------------

SteadyTime State::first_deadline(const LiveSession& live, SteadyTime from) const {
    if (live.parked_since()) return from + live.park_window();
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

Slot State::insert(LiveSession&& live) {
    undo_.push_back({SessionId(std::string(live.id())), std::nullopt});
    live.owner_link() = {};
    if (live.deadline() == LiveSession::no_deadline)
        live.set_deadline(first_deadline(live, now_.steady));
    const auto slot = table_.insert(std::move(live));
    auto& placed = table_.at(slot);
    ++counts_.at(static_cast<std::size_t>(placed.status()));
    silent_count_ += placed.is_silent_since_start() ? 1 : 0;
    count_lease(placed, /*in=*/true);
    if (placed.deadline() != LiveSession::no_deadline) wheel_.schedule(slot, placed.deadline());
    if (placed.owner_kind() == OwnerKind::process && !placed.parked_since()) {
        owners_.link(table_, slot, placed.owner(owner_hosts_).process);
    }
    if (placed.is_seen_unsaved()) unsaved_.push_back({slot, placed.ordinal()});
    return slot;
}

LiveSession State::erase(Slot slot) {
    owners_.unlink(table_, slot);
    wheel_.cancel(slot);
    const auto& live = table_.at(slot);
    count_lease(live, /*in=*/false);
    --counts_.at(static_cast<std::size_t>(live.status()));
    silent_count_ -= live.is_silent_since_start() ? 1 : 0;
    return table_.erase(slot);
}

template <typename Change>
void State::modify(const SessionId& id, Change&& change) {
    const auto slot = table_.find(id.text());
    CHECK(slot != LiveTable::none);
    auto& live = table_.at(slot);
    undo_.push_back({id, live});
    believe_clock(live);
    --counts_.at(static_cast<std::size_t>(live.status()));
    silent_count_ -= live.is_silent_since_start() ? 1 : 0;
    change(slot, live);
    ++counts_.at(static_cast<std::size_t>(live.status()));
    silent_count_ += live.is_silent_since_start() ? 1 : 0;
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
    LiveSession live(change.session, owner_hosts_, clock_for(change.session.owner.since));
    live.set_reaper(change.reaper, change.reaper_is_parent);
    opened_.push_back({insert(std::move(live)), change.session.ordinal});
}

void State::open(const Reopened& change) {
    // A spooled life began before it is opened: the session's clock goes on from what is on record.
    const auto clock = clock_for(std::max(change.owner.since, change.at));
    // A live one that is taken over leaves with its old owner and comes back with the new.
    LiveSession live;
    if (change.past) {
        live = LiveSession(*change.past, owner_hosts_, clock);
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
    live.set_reaper(change.reaper, change.reaper_is_parent);
    live.set_former_owners(change.former_owners);
    live.set_owner(change.owner, change.on_owner_loss, change.park_window, owner_hosts_, clock);
    live.set_seen(change.at, /*unsaved=*/false);
    live.set_deadline(LiveSession::no_deadline);
    live.set_silent_since_start(false);
    live.set_adopted(false);
    opened_.push_back({insert(std::move(live)), change.ordinal});
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
                live.set_parked(c.since);
                live.set_silent_since_start(false);
                live.set_turn(std::nullopt);
                live.set_doubt(std::nullopt, std::nullopt);
                state.set_deadline(slot, state.first_deadline(live, state.now_.steady));
            });
        }
        void operator()(const Labelled& c) {
            if (state.find(c.id) == nullptr) return;
            state.modify(
                c.id, [&](Slot, LiveSession& live) { live.set_titled(!c.labels.title.empty()); });
        }
        // Ended sessions are in the store only.
        void operator()(const LeftoversSettled&) {}
        void operator()(const Seen& c) {
            state.modify(c.id, [&](Slot, LiveSession& live) {
                live.set_seen(c.at, /*unsaved=*/false);
                if (c.lease_from) live.set_silent_since_start(false);
            });
        }
    };
    std::visit(Door{*this}, change);
}

// --- what lives in memory alone -----------------------------------------------------------------

void State::postpone(Slot slot) {
    auto& live = table_.at(slot);
    if (!live.has_lease() || live.parked_since()) return;
    count_lease(live, /*in=*/false);
    // Never sooner than before: it may have waited behind the very call that opened the session.
    const auto before = live.deadline();
    const auto deadline = first_deadline(live, heard_.steady);
    live.set_deadline(before == LiveSession::no_deadline ? deadline : std::max(before, deadline));
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
    believe_clock(live);
    live.set_seen(seen_at(live), /*unsaved=*/true);
    postpone(slot);
}

WallTime State::heard_at() const {
    const auto ago = now_.boot - std::min(heard_.boot, now_.boot);
    return now_.wall - std::chrono::ceil<std::chrono::milliseconds>(ago);
}

WallTime State::seen_at(const LiveSession& live) const {
    // A call may arrive while the opening of its session is on its way to the disk.
    return std::max(earliest_for(live, heard_.boot), std::min(live.owner_since(), time_for(live)));
}

void State::set_doubt(LiveSession& live, std::optional<WallTime> unknown,
                      std::optional<WallTime> stalled) {
    const auto number = live.owner_link().owner;
    if (number != OwnerTable::none) {
        auto& uncertain = owners_.at(number).uncertain;
        if (live.unknown_since()) --uncertain;
        if (unknown) ++uncertain;
    }
    live.set_doubt(unknown, stalled);
}

void State::mark_unclear(const ProcessIdentity& process, bool unclear) {
    const auto number = owners_.find(process);
    if (number != OwnerTable::none) owners_.at(number).unclear = unclear;
}

void State::mark_leaving(const OwnerGone& gone) {
    const auto number = owners_.find(gone.process);
    if (number == OwnerTable::none) return;
    auto& entry = owners_.at(number);
    if (std::exchange(entry.leaving, true)) return;
    entry.departure = gone.departure;
    ++leaving_;
}

void State::start_leases(std::chrono::nanoseconds late) {
    for (const auto [slot, ordinal] : std::exchange(opened_, {})) {
        const auto& live = table_.at(slot);
        const bool waits = live.ordinal() == ordinal && live.has_lease() && !live.parked_since() &&
                           live.deadline() != LiveSession::no_deadline;
        if (waits) set_deadline(slot, live.deadline() + late);
    }
}

void State::mark_gone(const OwnerGone& gone) {
    const auto number = owners_.find(gone.process);
    if (number == OwnerTable::none) return;
    auto& entry = owners_.at(number);
    if (entry.gone) return;
    if (std::exchange(entry.leaving, false)) --leaving_;
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
            // untestable: who moves a deadline puts it in the wheel; one that was in neither place
            // would never fall due.
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
            if (!std::exchange(entry.watch_asked, true))
                effects.emplace_back(WatchOwner{entry.process});
            continue;
        }
        if (entry.watch_asked) effects.emplace_back(UnwatchOwner{entry.process});
        if (entry.leaving) --leaving_;
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
