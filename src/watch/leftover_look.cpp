#include "watch/leftover_look.hpp"

#include <algorithm>

#include "core/limits.hpp"

namespace knell {

std::vector<FoundLeftovers> LeftoverLook::look(const ProcessTree& tree,
                                               const LiveOwners& owners) const {
    std::vector<FoundLeftovers> found;
    for (const auto& search : searches_) {
        found.push_back({search.session_id, find_leftovers(search, tree, owners)});
    }
    return found;
}

std::optional<std::vector<FoundLeftovers>> LeftoverLook::step(const ProcessTree& tree,
                                                              const LiveOwners& owners,
                                                              SteadyTime now) {
    if (!until_) {
        until_ = now + grace;
        first_ = look(tree, owners);
    }
    const auto may_go = [&](const FoundLeftovers& one) {
        return std::ranges::any_of(one.leftovers, [&](const Leftover& leftover) {
            return leftover.fate == Fate::left && is_running(leftover.process, tree);
        });
    };
    const bool wait = std::ranges::any_of(first_, may_go);
    if (wait && now < *until_) return std::nullopt;
    const bool found_any = std::ranges::any_of(
        first_, [](const FoundLeftovers& one) { return !one.leftovers.empty(); });
    if (!found_any) return std::move(first_);
    // Who went may have left something behind in turn.
    auto last = look(tree, owners);
    for (std::size_t i = 0; i < last.size(); ++i) {
        auto& leftovers = last[i].leftovers;
        for (auto& before : first_[i].leftovers) {
            if (is_running(before.process, tree)) continue;
            if (leftovers.size() == limits::leftovers_max) break;
            before.fate = Fate::gone;
            leftovers.push_back(std::move(before));
        }
    }
    return last;
}

}  // namespace knell
