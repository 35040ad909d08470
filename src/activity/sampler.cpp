#include "activity/sampler.hpp"

#include <algorithm>

namespace knell {

void ActivitySampler::add(const ProcessId& id, const ProcessIdentity& process, ActivityFacts last,
                          bool stale) {
    const Lock lock(mutex_);
    if (const auto old = entries_.find(id); old != entries_.end()) {
        turns_.erase({old->second.next_look, id});
        if (old->second.process != process) removed_.push_back(old->second.process);
        entries_.erase(old);
    }
    const auto [place, _] =
        entries_.emplace(id, Entry{.process = process,
                                   .classifier = Classifier(rules_, std::move(last)),
                                   .was_stale = stale,
                                   .number = next_number_++});
    schedule(id, place->second, SteadyTime{});
}

void ActivitySampler::remove(const ProcessId& id) {
    const Lock lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return;
    turns_.erase({found->second.next_look, id});
    removed_.push_back(found->second.process);
    entries_.erase(found);
}

void ActivitySampler::set_stale_after(std::chrono::seconds time) {
    const Lock lock(mutex_);
    if (rules_.stale_after == time) return;
    rules_.stale_after = time;
    for (auto& [id, entry] : entries_) entry.classifier.set_stale_after(time);
}

std::vector<ActivitySampler::Finding> ActivitySampler::step(Now now) {
    forget_removed();
    std::vector<Finding> findings;
    if (is_too_soon(now.steady)) return findings;
    std::size_t looks = 0;
    bool has_begun = false;
    while (looks < step_looks_max) {
        // Looking takes time, and others are not kept waiting for it.
        const auto due = take_due(now.steady);
        if (!due) break;
        if (!std::exchange(has_begun, true)) source_.begin_round(now.steady);
        const auto sample = source_.look(due->process, now.steady);
        looks += std::max<std::size_t>(sample.members.size(), 1);
        if (auto finding = apply(*due, sample, now)) findings.push_back(std::move(*finding));
    }
    if (!has_begun) return findings;
    const Lock lock(mutex_);
    not_before_ = now.steady + step_every;
    return findings;
}

/// A thread that wakes up for something else must not make more looks of it.
bool ActivitySampler::is_too_soon(SteadyTime now) const {
    const Lock lock(mutex_);
    return now < not_before_;
}

std::optional<SteadyTime> ActivitySampler::next_step() const {
    const Lock lock(mutex_);
    if (turns_.empty()) return std::nullopt;
    return std::max(turns_.begin()->first, not_before_);
}

std::optional<ActivityFacts> ActivitySampler::facts(const ProcessId& id) const {
    const Lock lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return std::nullopt;
    return found->second.classifier.facts();
}

std::vector<TreeMember> ActivitySampler::members(const ProcessId& id) const {
    const Lock lock(mutex_);
    const auto found = entries_.find(id);
    return found == entries_.end() ? std::vector<TreeMember>{} : found->second.members;
}

/// Whose turn it is; it has no other until it was looked at.
std::optional<ActivitySampler::Due> ActivitySampler::take_due(SteadyTime now) {
    const Lock lock(mutex_);
    if (turns_.empty() || turns_.begin()->first > now) return std::nullopt;
    auto id = turns_.begin()->second;
    turns_.erase(turns_.begin());
    const auto& entry = entries_.at(id);
    return Due{.id = std::move(id), .number = entry.number, .process = entry.process};
}

std::optional<ActivitySampler::Finding> ActivitySampler::apply(const Due& due,
                                                               const TreeSample& sample, Now now) {
    const Lock lock(mutex_);
    const auto found = entries_.find(due.id);
    if (found == entries_.end() || found->second.number != due.number) return std::nullopt;
    auto& entry = found->second;
    if (sample.sight == TreeSample::Sight::gone) {
        // Its end is told by whoever watches it, and it is removed then.
        entry.every = idle_every;
        schedule(due.id, entry, now.steady + idle_every);
        return std::nullopt;
    }
    if (sample.sight == TreeSample::Sight::seen) {
        entry.members = sample.members;
        entry.members.insert(entry.members.end(), sample.escaped.begin(), sample.escaped.end());
    }
    const auto before = entry.classifier.facts().activity;
    entry.classifier.look(sample, now);
    schedule(due.id, entry, now.steady + next_wait(entry, sample));
    const auto& facts = entry.classifier.facts();
    const bool changed = facts.activity != before;
    const bool stale = entry.classifier.is_stale();
    if (!changed && stale == entry.was_stale) return std::nullopt;
    entry.was_stale = stale;
    return Finding{.id = due.id, .facts = facts, .stale = stale, .changed = changed};
}

void ActivitySampler::schedule(const ProcessId& id, Entry& entry, SteadyTime when) {
    entry.next_look = when;
    turns_.emplace(when, id);
}

std::chrono::nanoseconds ActivitySampler::next_wait(Entry& entry, const TreeSample& sample) {
    const bool may_wait = entry.classifier.is_idle() && entry.classifier.is_still();
    entry.every = may_wait ? std::min<std::chrono::nanoseconds>(entry.every * 2, idle_every)
                           : std::chrono::nanoseconds{busy_every};
    // A tree of hundreds must not take all the looks there are.
    const auto share = step_every * 10 * sample.members.size() / step_looks_max;
    // Those that came together part, so that each step has as much to do: up to an eighth earlier.
    const auto early = entry.every / 8 * static_cast<std::int64_t>(entry.number % 16) / 16;
    return std::max<std::chrono::nanoseconds>(entry.every - early, share);
}

void ActivitySampler::forget_removed() {
    std::vector<ProcessIdentity> removed;
    {
        const Lock lock(mutex_);
        removed.swap(removed_);
    }
    for (const auto& process : removed) source_.forget(process);
}

}  // namespace knell
