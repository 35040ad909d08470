#include "deliver/hook/runner.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "base/check.hpp"
#include "platform/pidfd.hpp"
#include "platform/poller.hpp"

namespace knell {

namespace {

/// What is killed may have started something a moment before.
constexpr int rounds_max = 10;
constexpr int round_millis = 200;

bool is_gone(const HookOrphan& orphan, int millis) {
    pollfd look{.fd = orphan.pidfd.get(), .events = POLLIN, .revents = 0};
    return ::poll(&look, 1, millis) > 0;
}

Finished failed(AttemptId attempt, std::string what) {
    return {attempt, Outcome{.kind = Outcome::Kind::failed,
                             .what = std::move(what),
                             .output = {},
                             .retry_after = std::nullopt}};
}

}  // namespace

HookRunner::Orphans HookRunner::stop_orphans() {
    Orphans told;
    for (int round = 0; round < rounds_max; ++round) {
        auto found = find_hook_orphans(node_);
        told.left_alone.clear();
        for (const auto& away : found.away) told.left_alone.emplace_back(away.hook, away.pid);
        orphans_ = std::move(found.in_group);
        if (orphans_.empty()) break;
        for (const auto& orphan : orphans_) {
            pidfd_send_signal(orphan.pidfd.get(), SIGKILL, nullptr, 0);
            const auto one = std::pair(orphan.hook, orphan.pid);
            if (std::ranges::find(told.stopped, one) == told.stopped.end()) {
                told.stopped.push_back(one);
            }
        }
        for (const auto& orphan : orphans_) {
            if (!is_gone(orphan, round_millis)) break;
        }
    }
    return told;
}

const HookOrphan* HookRunner::earlier_run(const std::string& hook) {
    std::erase_if(orphans_, [](const auto& orphan) { return is_gone(orphan, 0); });
    const auto found = std::ranges::find(orphans_, hook, &HookOrphan::hook);
    return found == orphans_.end() ? nullptr : &*found;
}

void HookRunner::start(AttemptId attempt, const HookSpec& spec, const RenderedEvent& rendered,
                       SteadyTime now) {
    CHECK(!running_.contains(attempt));
    if (const auto* earlier = earlier_run(spec.name)) {
        finished_.push_back(
            failed(attempt, fmt::format("its run under an earlier daemon (process {}) was killed "
                                        "and is not gone yet",
                                        earlier->pid)));
        return;
    }
    auto process = HookProcess::start(spec, rendered, node_, now);
    if (process) {
        running_.emplace(attempt, std::move(*process));
    } else {
        finished_.push_back(failed(attempt, std::move(process.error().message)));
    }
}

void HookRunner::add_descriptors(std::vector<pollfd>& out) const {
    for (const auto& [attempt, process] : running_) process->add_descriptors(out);
    for (const auto& process : dying_) process->add_descriptors(out);
}

std::optional<SteadyTime> HookRunner::next_deadline() const {
    std::optional<SteadyTime> next;
    for (const auto& [attempt, process] : running_) {
        const auto deadline = process->next_deadline();
        if (deadline && (!next || *deadline < *next)) next = deadline;
    }
    return next;
}

std::set<AttemptId> HookRunner::due(SteadyTime now) const {
    std::set<AttemptId> due;
    std::vector<pollfd> descriptors;
    std::vector<AttemptId> owners;  // of the descriptor in the same place
    for (const auto& [attempt, process] : running_) {
        process->add_descriptors(descriptors);
        owners.resize(descriptors.size(), attempt);
        const auto deadline = process->next_deadline();
        if (deadline && *deadline <= now) due.insert(attempt);
    }
    look_now(descriptors);
    for (std::size_t i = 0; i < owners.size(); ++i) {
        if (descriptors[i].revents != 0) due.insert(owners[i]);
    }
    return due;
}

void HookRunner::step(SteadyTime now) {
    std::erase_if(dying_, [](const auto& process) { return process->reap(); });
    for (const auto attempt : due(now)) {
        const auto found = running_.find(attempt);
        auto outcome = found->second->step(now);
        if (!outcome) continue;
        finished_.push_back({attempt, std::move(*outcome)});
        retire(std::move(found->second));
        running_.erase(found);
    }
}

std::vector<Finished> HookRunner::take_finished() {
    return std::exchange(finished_, {});
}

void HookRunner::cancel(AttemptId attempt) {
    std::erase_if(finished_, [&](const Finished& one) { return one.attempt == attempt; });
    const auto found = running_.find(attempt);
    if (found == running_.end()) return;
    found->second->kill();
    retire(std::move(found->second));
    running_.erase(found);
}

void HookRunner::cancel_all() {
    finished_.clear();
    for (auto& [attempt, process] : running_) {
        process->kill();
        retire(std::move(process));
    }
    running_.clear();
}

void HookRunner::retire(std::unique_ptr<HookProcess> process) {
    if (!process->reap()) dying_.push_back(std::move(process));
}

}  // namespace knell
