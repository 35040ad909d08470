#include "watch/stopper.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

namespace knell {

void Stopper::add(StopOrder order, SteadyTime now) {
    Job job{std::move(order), {}};
    for (std::size_t place = 0; place < job.order.leftovers.size(); ++place) {
        if (job.order.leftovers[place].fate != Fate::stopping) continue;
        job.targets.push_back({.place = place, .held = nullptr, .until = now + term_grace});
    }
    jobs_.push_back(std::move(job));
}

Fate Stopper::advance(Target& target, const Leftover& leftover, SteadyTime now) const {
    if (!target.held) {
        auto held = processes_.hold(leftover.process);
        if (!held) {
            if (held.error() == NotHeld::gone) return Fate::gone;
            return now < target.until ? Fate::stopping : Fate::left;
        }
        target.held = std::move(*held);
    }
    if (target.held->has_ended()) {
        switch (target.phase) {
            case Phase::asked:
                return Fate::gone;
            case Phase::terminated:
                return Fate::stopped;
            case Phase::killed:
                return Fate::killed;
        }
    }
    if (target.phase != Phase::asked && now < target.until) return Fate::stopping;
    if (target.phase == Phase::killed) return Fate::left;
    if (processes_.is_spared(leftover.process)) return Fate::left;
    const bool first = target.phase == Phase::asked;
    target.held->signal(first ? SIGTERM : SIGKILL);
    target.phase = first ? Phase::terminated : Phase::killed;
    target.until = now + (first ? term_grace : kill_grace);
    return Fate::stopping;
}

std::vector<StopOrder> Stopper::step(SteadyTime now) {
    std::vector<StopOrder> done;
    std::erase_if(jobs_, [&](Job& job) {
        std::erase_if(job.targets, [&](Target& target) {
            auto& leftover = job.order.leftovers[target.place];
            leftover.fate = advance(target, leftover, now);
            return leftover.fate != Fate::stopping;
        });
        if (!job.targets.empty()) return false;
        done.push_back(std::move(job.order));
        return true;
    });
    return done;
}

}  // namespace knell
