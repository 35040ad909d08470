// What the clocks say to a session, and how they were set.

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "engine/state.hpp"

namespace knell {

std::chrono::milliseconds State::clock_for(WallTime newest) const {
    return clock_set_ + std::max(newest - now_.wall, std::chrono::milliseconds{0});
}

void State::believe_clock(LiveSession& live) {
    if (clock_set_ <= owner_hosts_.clock_of(live.owner_host())) return;
    live.set_owner_host(owner_hosts_.with_clock(live.owner_host(), clock_set_));
}

std::chrono::milliseconds State::set_back_for(const LiveSession& live) const {
    return set_back_since(owner_hosts_.clock_of(live.owner_host()));
}

std::chrono::milliseconds State::set_back_since(std::chrono::milliseconds clock) const {
    return std::max(clock - clock_set_, std::chrono::milliseconds{0});
}

std::chrono::nanoseconds State::ago(std::optional<SteadyTime> boot) const {
    return now_.boot - std::min(boot.value_or(now_.boot), now_.boot);
}

void State::last_word_written(const LastWord& word) {
    last_word_stale_ = false;
    word_on_record_ = word.at;
}

void State::note_begin(WallTime since) {
    if (since >= heard_at()) return;
    unwatched_until_ = now_.boot;
    if (word_on_record_ && since <= *word_on_record_) last_word_stale_ = true;
}

std::optional<WallTime> State::last_word_for(const LiveSession& live) const {
    // What was spooled began before that, but nobody watched it then.
    if (!heads_.last_word || !live.is_adopted()) return std::nullopt;
    // The clock's steps are counted from there.
    return heads_.last_word->at + owner_hosts_.clock_of(live.owner_host());
}

WallTime State::time_for(const LiveSession& live) const {
    return now_.wall + set_back_for(live);
}

WallTime State::earliest_for(const LiveSession& live, std::optional<SteadyTime> boot) const {
    return time_for(live) - std::chrono::ceil<std::chrono::milliseconds>(ago(boot));
}

WallTime State::latest_for(const LiveSession& live, std::optional<SteadyTime> boot) const {
    return time_for(live) - std::chrono::floor<std::chrono::milliseconds>(ago(boot));
}

WallTime State::heard_at() const {
    return now_.wall - std::chrono::ceil<std::chrono::milliseconds>(ago(heard_.boot));
}

WallTime State::seen_at(const LiveSession& live) const {
    // A call may arrive while the opening of its session is on its way to the disk.
    return std::max(earliest_for(live, heard_.boot), std::min(live.owner_since(), time_for(live)));
}

}  // namespace knell
