#include "activity/classifier.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace knell {

namespace {

using namespace std::chrono_literals;

std::uint64_t grown(std::uint64_t before, std::uint64_t after) {
    return after > before ? after - before : 0;
}

std::uint64_t count_new(const std::vector<TreeMember>& before,
                        const std::vector<TreeMember>& after) {
    std::vector<TreeMember> fresh;
    std::ranges::set_difference(after, before, std::back_inserter(fresh));
    return fresh.size();
}

}  // namespace

Classifier::Classifier(const ActivityRules& rules, ActivityFacts last)
    : rules_(rules), facts_(std::move(last)) {
    if (facts_.activity == ProcessActivity::exited) facts_.activity = ProcessActivity::working;
}

Classifier::Deeds& Classifier::Deeds::operator+=(const Deeds& more) {
    cpu += more.cpu;
    io_bytes += more.io_bytes;
    traffic_bytes += more.traffic_bytes;
    connections += more.connections;
    new_processes += more.new_processes;
    restless_looks += more.restless_looks;
    time += more.time;
    return *this;
}

Classifier::Deeds Classifier::between(const TreeSample& before, const TreeSample& after) {
    Deeds deeds;
    deeds.cpu = std::max(after.cpu - before.cpu, 0ms);
    deeds.io_bytes = grown(before.io_bytes, after.io_bytes);
    deeds.new_processes = count_new(before.members, after.members);
    // What was not seen before says nothing about when it came.
    if (!before.sockets || !after.sockets) return deeds;
    const auto& known = before.sockets->connections;
    for (const auto& connection : after.sockets->connections) {
        const auto was =
            std::ranges::lower_bound(known, connection.mark, {}, &TreeConnection::mark);
        const bool is_known = was != known.end() && was->mark == connection.mark;
        deeds.traffic_bytes += grown(is_known ? was->bytes : 0, connection.bytes);
        if (!is_known && connection.is_accepted) ++deeds.connections;
    }
    return deeds;
}

void Classifier::begin(Now now) {
    has_begun_ = true;
    began_ = {.steady = now.steady, .wall = now.wall};
    seen_since_ = began_;
    idle_since_ = began_;
    if (!is_idle()) return;
    // The record says since when; a clock that was set back does not put that into the future.
    const auto idle_for = std::max(now.wall - facts_.since, 0ms);
    idle_since_ = {.steady = now.steady - idle_for, .wall = now.wall - idle_for};
}

void Classifier::look(const TreeSample& sample, Now now) {
    if (!has_begun_) begin(now);
    if (sample.sight != TreeSample::Sight::seen) {
        cannot_see(sample, now);
        return;
    }
    if (last_ && now.steady - last_at_ > rules_.gap_max) {
        seen_since_ = {.steady = now.steady, .wall = now.wall};
    }
    const auto deeds = take(sample, now.steady);
    if (deeds.connections > 0 || deeds.traffic_bytes > 0) connected_ = now.wall;
    is_still_ = is_idle() && is_little(deeds);
    note(deeds, now.steady);
    settle(sample, deeds, now);
    last_ = sample;
    last_at_ = now.steady;
}

void Classifier::cannot_see(const TreeSample& sample, Now now) {
    last_.reset();
    restless_ = 0;
    slices_ = {};
    is_still_ = false;
    is_stale_ = false;
    seen_since_ = {.steady = now.steady, .wall = now.wall};
    if (is_idle()) set_class(ProcessActivity::working, now.wall);
    facts_.evidence = fmt::format("counts as working, because it cannot be seen: {}",
                                  fmt::join(sample.unseen, ", "));
}

/// What happened since the last look.
Classifier::Deeds Classifier::take(const TreeSample& sample, SteadyTime now) {
    auto deeds = last_ ? between(*last_, sample) : Deeds{};
    if (last_) deeds.time = now - last_at_;
    restless_ = sample.is_runnable || sample.is_blocked ? restless_ + 1 : 0;
    if (restless_ >= rules_.restless_looks || sample.has_more_members) deeds.restless_looks = 1;
    return deeds;
}

void Classifier::note(const Deeds& deeds, SteadyTime now) {
    const auto slice = now.time_since_epoch() * slices_in_quiet / rules_.quiet;
    const auto size = static_cast<std::int64_t>(slices_.size());
    for (auto next = std::max(slice_ + 1, slice - size + 1); next <= slice; ++next) {
        slices_.at(static_cast<std::size_t>(next % size)) = {};
    }
    slice_ = std::max(slice_, slice);
    slices_.at(static_cast<std::size_t>(slice_ % size)) += deeds;
}

Classifier::Deeds Classifier::last_minute() const {
    Deeds sum;
    for (const auto& slice : slices_) sum += slice;
    return sum;
}

bool Classifier::is_work(const Deeds& minute) const {
    const bool works = !is_idle();
    return rules_.cpu.is_reached(minute.cpu, works) ||
           rules_.io_bytes.is_reached(minute.io_bytes, works) ||
           rules_.traffic_bytes.is_reached(minute.traffic_bytes, works) ||
           rules_.connections.is_reached(minute.connections, works) ||
           rules_.new_processes.is_reached(minute.new_processes, works) ||
           minute.restless_looks > 0;
}

/// At this rate it would not begin to work.
bool Classifier::is_little(const Deeds& deeds) const {
    if (!last_) return false;
    // Of less than a second a single tick of CPU time would be much.
    const auto time = std::max<std::chrono::nanoseconds>(deeds.time, 1s);
    const auto share = static_cast<double>(time.count()) /
                       static_cast<double>(std::chrono::nanoseconds{rules_.quiet}.count());
    const auto is_below = [share](auto amount, auto begin) {
        return static_cast<double>(amount) < static_cast<double>(begin) * share;
    };
    return is_below(deeds.cpu.count(), rules_.cpu.begin.count()) &&
           is_below(deeds.io_bytes, rules_.io_bytes.begin) &&
           is_below(deeds.traffic_bytes, rules_.traffic_bytes.begin) && deeds.connections == 0 &&
           deeds.new_processes == 0 && restless_ == 0;
}

void Classifier::settle(const TreeSample& sample, const Deeds& deeds, Now now) {
    const auto minute = last_minute();
    const bool was_idle = is_idle();
    const bool is_seen_enough = was_idle || now.steady - seen_since_.steady >= rules_.quiet;
    if (is_work(minute) || !is_seen_enough) {
        if (was_idle) set_class(ProcessActivity::working, now.wall);
        is_stale_ = false;
        facts_.evidence = work_evidence(sample, minute, now.steady);
        return;
    }
    if (was_idle) {
        idle_cpu_ += deeds.cpu;
    } else {
        // Nothing was worth a word for so long.
        idle_since_ = {.steady = now.steady - rules_.quiet, .wall = now.wall - rules_.quiet};
        idle_cpu_ = minute.cpu;
    }
    const bool listens = sample.sockets && !sample.sockets->listens.empty();
    set_class(listens ? ProcessActivity::listening : ProcessActivity::waiting,
              was_idle ? now.wall : idle_since_.wall);
    is_stale_ = now.steady - idle_since_.steady >= rules_.stale_after;
    facts_.evidence = idle_evidence(sample, now);
}

void Classifier::set_class(ProcessActivity activity, WallTime since) {
    if (facts_.activity == activity) return;
    facts_.activity = activity;
    facts_.since = since;
}

}  // namespace knell
