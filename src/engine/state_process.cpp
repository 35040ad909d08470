// Background processes: the table of those that run, and how sessions are kept by them.

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/check.hpp"
#include "engine/state.hpp"

namespace knell {

namespace {

/// The newest time on record of one that runs.
WallTime newest_in(const BackgroundProcess& process) {
    auto newest = std::max(process.started_at, process.activity.since);
    for (const auto& since : {process.stale_since, process.stop_asked_at}) {
        newest = std::max(newest, since.value_or(newest));
    }
    return newest;
}

}  // namespace

// --- at start, and when the store is right ------------------------------------------------------

void State::adopt(const BackgroundProcess& process) {
    // As for a session: what is on record is by the clock of then.
    const auto unset = now_.wall - clock_set_;
    processes_.insert({process, std::max(newest_in(process) - unset, std::chrono::milliseconds{0}),
                       /*adopted=*/true});
    background_unsure_.push_back(process.session_id);
}

void State::forget(const ProcessId& id) {
    CHECK(process_undo_.empty());
    background_unsure_.push_back(processes_.erase(id).row.session_id);
}

std::optional<Slot> State::next_background_unsure() {
    while (!background_unsure_.empty()) {
        auto id = std::move(background_unsure_.back());
        background_unsure_.pop_back();
        const auto slot = table_.find(id.text());
        if (slot == LiveTable::none) continue;
        const bool is_kept = table_.at(slot).background_since().has_value();
        if (is_kept == (processes_.counting_of(id) > 0)) continue;
        background_sure_.push_back(std::move(id));
        return slot;
    }
    return std::nullopt;
}

// --- time ---------------------------------------------------------------------------------------

std::chrono::milliseconds State::set_back_for(const RunningProcess& process) const {
    return set_back_since(process.clock);
}

WallTime State::time_for(const RunningProcess& process) const {
    return now_.wall + set_back_for(process);
}

WallTime State::earliest_for(const RunningProcess& process, std::optional<SteadyTime> boot) const {
    return time_for(process) - std::chrono::ceil<std::chrono::milliseconds>(ago(boot));
}

WallTime State::latest_for(const RunningProcess& process, std::optional<SteadyTime> boot) const {
    return time_for(process) - std::chrono::floor<std::chrono::milliseconds>(ago(boot));
}

std::optional<WallTime> State::last_word_for(const RunningProcess& process) const {
    if (!heads_.last_word || !process.adopted) return std::nullopt;
    return heads_.last_word->at + process.clock;
}

std::optional<WallTime> State::next_vouch_end() const {
    return processes_.next_vouch_end();
}

const RunningProcess* State::next_vouch_over() const {
    return processes_.vouch_over(now_.wall);
}

// --- the one door -------------------------------------------------------------------------------

void State::open(const ProcessOpened& change) {
    const auto& process = change.process;
    CHECK(process.number == heads_.process_number + 1);
    ++heads_.process_number;
    // A leftover was found some time ago, and nobody has watched it since.
    if (process.origin == ProcessOrigin::leftover) note_begin(process.started_at);
    process_undo_.push_back({process.id, std::nullopt});
    processes_.insert({process, clock_for(newest_in(process)), /*adopted=*/false});
    look_at_reset_again(process.session_id);
}

void State::end(const ProcessEnded& change) {
    auto before = processes_.erase(change.id);
    look_at_reset_again(before.row.session_id);
    process_undo_.push_back({change.id, std::move(before)});
}

template <typename Change>
void State::modify_process(const ProcessRef& process, Change&& change) {
    auto running = processes_.erase(process.id);
    process_undo_.push_back({process.id, running});
    running.clock = std::max(running.clock, clock_set_);
    look_at_reset_again(running.row.session_id);
    change(running.row);
    processes_.insert(std::move(running));
}

void State::change(const ProcessMarked& change) {
    modify_process(change, [&](BackgroundProcess& row) {
        row.activity = change.activity;
        row.stale_since = change.stale_since;
    });
}

void State::change(const ProcessVouched& change) {
    modify_process(change, [&](BackgroundProcess& row) { row.vouched_until = change.until; });
}

void State::change(const ProcessStopAsked& change) {
    modify_process(change, [&](BackgroundProcess& row) {
        row.stop_asked_at = change.at;
        row.stop_asked_by = change.by;
    });
}

void State::change(const ProcessHandedOver& change) {
    modify_process(change, [&](BackgroundProcess& row) {
        row.session_id = change.session_id;
        row.generation = change.generation;
    });
    // Whether they keep it is decided once they are its own.
    background_unsure_.push_back(change.session_id);
}

void State::revert_processes() {
    auto undone = std::exchange(process_undo_, {});
    for (auto& undo : undone | std::views::reverse) {
        if (processes_.find(undo.id) != nullptr) processes_.erase(undo.id);
        if (undo.before) processes_.insert(std::move(*undo.before));
    }
    std::ranges::move(background_sure_, std::back_inserter(background_unsure_));
    background_sure_.clear();
}

}  // namespace knell
