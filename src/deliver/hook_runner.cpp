#include "deliver/hook_runner.hpp"

#include <utility>

#include "base/check.hpp"

namespace knell {

void HookRunner::start(AttemptId attempt, const HookSpec& spec, const Parcel& parcel,
                       SteadyTime now) {
    CHECK(!running_.contains(attempt));
    auto process = HookProcess::start(spec, parcel, now);
    if (process) {
        running_.emplace(attempt, std::move(*process));
    } else {
        finished_.push_back({attempt, Outcome{.kind = Outcome::Kind::failed,
                                              .what = std::move(process.error().message),
                                              .output = {},
                                              .retry_after = std::nullopt}});
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
    const bool answered = ::poll(descriptors.data(), descriptors.size(), 0) >= 0;
    for (std::size_t i = 0; i < owners.size(); ++i) {
        if (!answered || descriptors[i].revents != 0) due.insert(owners[i]);
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
