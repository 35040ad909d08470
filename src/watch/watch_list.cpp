#include "watch/watch_list.hpp"

#include <algorithm>
#include <vector>

#include "base/check.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

/// How often an owner without a descriptor is looked for, while there are few of them; so many
/// looks a second are the most, whatever their number.
constexpr std::chrono::nanoseconds look_period_min = 1s;
constexpr std::size_t looks_a_second_max = 2000;
/// How soon, and at the slowest how often, one that could not be told is looked for again.
constexpr std::chrono::nanoseconds unclear_delay_min = 1s;
constexpr std::chrono::nanoseconds unclear_delay_max = 30s;

}  // namespace

std::string_view WatchList::describe(How how) {
    switch (how) {
        case How::held:
            return "watched through its pidfd";
        case How::looked_at:
            return "looked for every second or so: no pidfd can be had for it";
        case How::unclear:
        case How::not_watched:
            break;
    }
    return {};
}

WatchList::WatchList(const ProcessTable& table, Holder& holder, Tell tell, ReadClock clock)
    : table_(table), holder_(holder), tell_(std::move(tell)), clock_(std::move(clock)) {}

WatchList::Key WatchList::key_of(const ProcessIdentity& process) {
    return {process.pid, process.start_ticks, process.pid_namespace, process.boot_id};
}

WatchList::Look WatchList::look(const ProcessIdentity& process) const {
    const auto before = clock_();
    auto finding = look_for(process, table_);
    return {std::move(finding), before, clock_()};
}

// --- changes ------------------------------------------------------------------------------------

std::size_t& WatchList::count_of(How how) {
    switch (how) {
        case How::held:
            return counts_.held;
        case How::looked_at:
            return counts_.looked_at;
        case How::unclear:
        case How::not_watched:
            break;
    }
    return counts_.unclear;
}

void WatchList::set_how(Entry& entry, How how) {
    if (entry.how != How::not_watched) --count_of(entry.how);
    if (entry.how == How::looked_at) last_found_.erase({*entry.there_at, key_of(entry.process)});
    if (entry.how == How::held && how != How::held) {
        holder_.release(entry.number);
        held_.erase(entry.number);
    }
    entry.how = how;
    if (how != How::not_watched) ++count_of(how);
}

void WatchList::schedule(const Key& key, Entry& entry, SteadyTime when) {
    turns_.erase({entry.next_look, key});
    entry.next_look = when;
    turns_.emplace(when, key);
}

void WatchList::forget(Entries::iterator at) {
    turns_.erase({at->second.next_look, at->first});
    set_how(at->second, How::not_watched);
    entries_.erase(at);
}

std::chrono::nanoseconds WatchList::look_period() const {
    return look_period_min * static_cast<int>(counts_.looked_at / looks_a_second_max + 1);
}

void WatchList::take(Entries::iterator at, Look&& look) {
    auto& entry = at->second;
    const auto& key = at->first;
    if (auto* gone = std::get_if<Gone>(&look.finding)) {
        const auto process = entry.process;
        gone->departure.last_look = entry.there_at;
        gone->departure.seen_at = look.after;
        forget(at);
        tell_.gone(process, gone->departure);
        return;
    }
    const bool was_unclear = entry.how == How::unclear;
    if (auto* cannot = std::get_if<CannotTell>(&look.finding)) {
        entry.delay = std::clamp(entry.delay * 2, unclear_delay_min, unclear_delay_max);
        set_how(entry, How::unclear);
        schedule(key, entry, look.after + entry.delay);
        if (!was_unclear) tell_.unknown(entry.process, cannot->why);
        return;
    }
    turns_.erase({entry.next_look, key});
    set_how(entry, How::not_watched);
    entry.there_at = look.before;
    entry.delay = 0ns;
    entry.number = next_number_++;
    auto& there = std::get<StillThere>(look.finding);
    if (holder_.hold(entry.number, entry.process, std::move(there.pidfd))) {
        held_.emplace(entry.number, key);
        set_how(entry, How::held);
    } else {
        set_how(entry, How::looked_at);
        last_found_.emplace(look.before, key);
        schedule(key, entry, look.after + look_period());
    }
    if (was_unclear) tell_.alive(entry.process);
}

// --- what happens -------------------------------------------------------------------------------

void WatchList::watch(const ProcessIdentity& process, Look&& look) {
    const auto [at, is_new] = entries_.try_emplace(key_of(process));
    if (is_new) at->second.process = process;
    // Its descriptor knows more than a look does: how it went.
    if (at->second.how == How::held) return;
    take(at, std::move(look));
}

void WatchList::unwatch(const ProcessIdentity& process) {
    const auto at = entries_.find(key_of(process));
    if (at != entries_.end()) forget(at);
}

void WatchList::ended(Number number, const std::function<Departure(const ProcessIdentity&)>& how) {
    const auto held = held_.find(number);
    if (held == held_.end()) return;
    const auto at = entries_.find(held->second);
    const auto process = at->second.process;
    auto departure = how(process);
    departure.last_look = std::max(*at->second.there_at, looked_at_held_);
    departure.seen_at = clock_();
    forget(at);
    tell_.gone(process, departure);
}

void WatchList::look_again() {
    const auto now = clock_();
    std::vector<Key> due;
    for (const auto& [when, key] : turns_) {
        if (when > now || due.size() == looks_a_second_max) break;
        due.push_back(key);
    }
    for (const auto& key : due) {
        const auto at = entries_.find(key);
        if (at != entries_.end()) take(at, look(at->second.process));
    }
}

// --- questions ----------------------------------------------------------------------------------

std::optional<SteadyTime> WatchList::next_look() const {
    if (turns_.empty()) return std::nullopt;
    return turns_.begin()->first;
}

WatchList::How WatchList::how(const ProcessIdentity& process) const {
    const auto at = entries_.find(key_of(process));
    return at == entries_.end() ? How::not_watched : at->second.how;
}

SteadyTime WatchList::proven_until() const {
    if (last_found_.empty()) return looked_at_held_;
    return std::min(looked_at_held_, last_found_.begin()->first);
}

void WatchList::check_invariants() const {
    Counts counts;
    for (const auto& [key, entry] : entries_) {
        CHECK(entry.how != How::not_watched);
        const bool held = entry.how == How::held;
        const bool looked_at = entry.how == How::looked_at;
        CHECK(held == held_.contains(entry.number));
        CHECK(held != turns_.contains({entry.next_look, key}));
        CHECK(!looked_at || last_found_.contains({*entry.there_at, key}));
        ++(held ? counts.held : looked_at ? counts.looked_at : counts.unclear);
    }
    CHECK(counts.held == counts_.held && held_.size() == counts.held);
    CHECK(counts.looked_at == counts_.looked_at && last_found_.size() == counts.looked_at);
    CHECK(counts.unclear == counts_.unclear);
    CHECK(turns_.size() == counts.looked_at + counts.unclear);
}

}  // namespace knell
