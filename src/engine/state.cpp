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
         {session.parked_since, session.parked_before, session.turn_since, session.unknown_since,
          session.stalled_since, session.detached_since, session.background_since}) {
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
    if (word) word_on_record_ = word->at;
    heads_before_ = heads_;
}

void State::adopt(const Session& session) {
    const auto newest = newest_in(session);
    // What is on record of it is by the clock of then, before it was set while no daemon ran.
    const auto unset = now_.wall - clock_set_;
    LiveSession live(session, owner_hosts_, texts_,
                     std::max(newest - unset, std::chrono::milliseconds{0}));
    // Who was there for its turn went with the daemon before.
    if (live.is_hosted() && live.turn_since()) live.set_turn_window(turn_window_);
    auto from = now_.steady;
    const bool runs = live.parked_since() || live.owner_kind() != OwnerKind::process;
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
    expect_detach(live);
    if (session.attached > 0) attached_before_.push_back(session.id);
    if (session.background_since) background_unsure_.push_back(session.id);
    insert(std::move(live));
    undo_.clear();
}

void State::follow(const SessionId& id, const Session* row) {
    CHECK(undo_.empty());
    LiveSession before;
    if (const auto slot = table_.find(id.text()); slot != LiveTable::none) before = erase(slot);
    if (row != nullptr) {
        LiveSession live(*row, owner_hosts_, texts_, clock_for(newest_in(*row)));
        // Whoever looks at it still does, whatever became of its row.
        live.set_clients(before.clients());
        expect_detach(live);
        insert(std::move(live));
        background_unsure_.push_back(id);
    } else {
        guards_.forget(before.ordinal());
        guards_.settle();
    }
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
    if (step.count() != 0) clock_steps_.note(now.wall, clock_set_);
    if (step.count() < 0) {
        last_word_stale_ = true;
        // What stands by the clock on the wall would come too late by that much.
        policies_followed_ = 0;
        policies_to_follow_ = table_.slots();
    }
    clock_set_ += step;
    has_begun_ = true;
    now_ = heard_ = now;
    opened_.clear();
    fired_.clear();
    follow_policies();
    wheel_.advance(now.steady, fired_);
    for (const auto slot : fired_) {
        const auto& live = table_.at(slot);
        // Renewed since it was put in the wheel: moved only now, so that a beat costs one store.
        if (live.next_deadline() > now.steady) {
            schedule(slot);
        } else {
            due_.push_back({slot, live.ordinal()});
        }
    }
}

const LiveSession* State::find(const SessionId& id) const {
    const auto slot = table_.find(id.text());
    return slot == LiveTable::none ? nullptr : &table_.at(slot);
}

const LiveSession* State::find_by_key(std::string_view key) const {
    const auto slot = keys_.find(table_, key);
    return slot == LiveTable::none ? nullptr : &table_.at(slot);
}

const OwnerEntry* State::owner_of(const LiveSession& live) const {
    const auto number = live.owner_link().owner;
    return number == OwnerTable::none ? nullptr : &owners_.at(number);
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
    if (live.next_deadline() == LiveSession::no_deadline || wheel_.contains(slot)) return;
    wheel_.schedule(slot, live.next_deadline());
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
        if (live.next_deadline() <= now_.steady) return slot;
        if (live.next_deadline() != LiveSession::no_deadline && !wheel_.contains(slot)) {
            // untestable: who moves a deadline puts it in the wheel; one that was in neither place
            // would never fall due.
            wheel_.schedule(slot, live.next_deadline());
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
    process_undo_.clear();
    guards_.settle();
    background_sure_.clear();
    ended_.clear();
    ended_keys_.clear();
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
    revert_processes();
    guards_.revert();
    heads_ = heads_before_;
    undo_.clear();
    ended_.clear();
    ended_keys_.clear();
    // Their sessions are back, and nobody will say again that these owners are gone.
    gone_.insert(gone_.end(), done_with_.begin(), done_with_.end());
    done_with_.clear();
}

}  // namespace knell
