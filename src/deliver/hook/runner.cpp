#include "deliver/hook/runner.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.hpp"
#include "platform/poller.hpp"

namespace knell {

namespace {

/// While the system is short of something.  When one of our own ends it is tried at once.
constexpr auto start_again_after = std::chrono::seconds{1};

Finished failed(AttemptId attempt, std::string what) {
    return {attempt, Outcome{.kind = Outcome::Kind::failed,
                             .what = std::move(what),
                             .output = {},
                             .retry_after = std::nullopt}};
}

}  // namespace

StoppedOrphans HookRunner::stop_orphans() {
    auto told = stop_marked_orphans(hook_run_variable, node_);
    orphans_ = std::exchange(told.not_gone, {});
    return told;
}

const MarkedOrphan* HookRunner::earlier_run(const std::string& hook) {
    std::erase_if(orphans_, [](const auto& orphan) { return is_gone(orphan); });
    const auto found = std::ranges::find(orphans_, hook, &MarkedOrphan::name);
    return found == orphans_.end() ? nullptr : &*found;
}

void HookRunner::start(AttemptId attempt, const HookSpec& spec, RenderedEventRef rendered,
                       SteadyTime now, IfShort if_short) {
    CHECK(!running_.contains(attempt));
    Waiting one{attempt, spec, std::move(rendered)};
    if (if_short == IfShort::fail) {
        // Past the bound, which is for those that come by themselves: a person starts few.
        const auto before = shortage_;
        if (try_start(one, now)) return;
        finished_.push_back(failed(attempt, std::exchange(shortage_, before)));
        return;
    }
    waiting_.push_back(std::move(one));
    start_waiting(now);
}

void HookRunner::start_waiting(SteadyTime now) {
    if (waiting_.empty()) shortage_.clear();
    if (!shortage_.empty() && now < start_again_at_) return;
    while (!waiting_.empty() && running_.size() < running_max_) {
        const auto next = next_waiting();
        if (!try_start(*next, now)) {
            start_again_at_ = now + start_again_after;
            return;
        }
        shortage_.clear();
        waiting_.erase(next);
    }
}

bool HookRunner::try_start(const Waiting& one, SteadyTime now) {
    if (const auto* earlier = earlier_run(one.spec.name)) {
        finished_.push_back(failed(
            one.attempt, fmt::format("its run under an earlier daemon (process {}) was killed "
                                     "and is not gone yet",
                                     earlier->pid)));
        return true;
    }
    auto process = HookProcess::start(one.spec, *one.rendered, node_, now);
    if (process) {
        running_.emplace(one.attempt, Running{one.spec.name, std::move(*process)});
        return true;
    }
    if (process.error().code == ErrorCode::limit) {
        shortage_ = std::move(process.error().message);
        return false;
    }
    finished_.push_back(failed(one.attempt, std::move(process.error().message)));
    return true;
}

std::vector<HookRunner::Waiting>::iterator HookRunner::next_waiting() {
    return std::ranges::min_element(
        waiting_, {}, [this](const Waiting& one) { return running_of(one.spec.name); });
}

std::size_t HookRunner::running_of(const std::string& hook) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        running_, [&](const auto& running) { return running.second.hook == hook; }));
}

void HookRunner::add_descriptors(std::vector<pollfd>& out) const {
    for (const auto& [attempt, running] : running_) running.process->add_descriptors(out);
    for (const auto& process : dying_) process->add_descriptors(out);
}

std::optional<SteadyTime> HookRunner::next_deadline() const {
    std::optional<SteadyTime> next;
    if (!waiting_.empty() && !shortage_.empty()) next = start_again_at_;
    for (const auto& [attempt, running] : running_) {
        const auto deadline = running.process->next_deadline();
        if (deadline && (!next || *deadline < *next)) next = deadline;
    }
    return next;
}

std::set<AttemptId> HookRunner::due(SteadyTime now) const {
    std::set<AttemptId> due;
    std::vector<pollfd> descriptors;
    std::vector<AttemptId> owners;  // of the descriptor in the same place
    for (const auto& [attempt, running] : running_) {
        running.process->add_descriptors(descriptors);
        owners.resize(descriptors.size(), attempt);
        const auto deadline = running.process->next_deadline();
        if (deadline && *deadline <= now) due.insert(attempt);
    }
    look_now(descriptors);
    for (std::size_t i = 0; i < owners.size(); ++i) {
        if (descriptors[i].revents != 0) due.insert(owners[i]);
    }
    return due;
}

void HookRunner::step(SteadyTime now) {
    if (std::erase_if(dying_, [](const auto& process) { return process->reap(); }) > 0) {
        start_again_at_ = now;
    }
    for (const auto attempt : due(now)) {
        const auto found = running_.find(attempt);
        auto outcome = found->second.process->step(now);
        if (!outcome) continue;
        finished_.push_back({attempt, std::move(*outcome)});
        retire(std::move(found->second.process));
        running_.erase(found);
        start_again_at_ = now;
    }
    start_waiting(now);
}

std::vector<Finished> HookRunner::take_finished() {
    return std::exchange(finished_, {});
}

void HookRunner::cancel(AttemptId attempt) {
    std::erase_if(finished_, [&](const Finished& one) { return one.attempt == attempt; });
    std::erase_if(waiting_, [&](const Waiting& one) { return one.attempt == attempt; });
    const auto found = running_.find(attempt);
    if (found == running_.end()) return;
    found->second.process->kill();
    retire(std::move(found->second.process));
    running_.erase(found);
}

void HookRunner::cancel_all() {
    finished_.clear();
    waiting_.clear();
    for (auto& [attempt, running] : running_) {
        running.process->kill();
        retire(std::move(running.process));
    }
    running_.clear();
}

void HookRunner::retire(std::unique_ptr<HookProcess> process) {
    if (!process->reap()) dying_.push_back(std::move(process));
}

}  // namespace knell
