#include "run.hpp"

#include <algorithm>

#include "world.hpp"

namespace knell::sim {

RunResult run(std::uint64_t seed, const std::vector<Action>& actions,
              std::vector<std::string>* trace) {
    World world(seed);
    world.trace_into(trace);
    RunResult result;
    for (const auto& action : actions) {
        if (world.broken()) break;
        world.perform(action);
        ++result.actions;
    }
    world.heal();
    result.broken = world.broken();
    result.coverage = world.coverage();
    result.digest = world.digest();
    return result;
}

std::vector<Action> shrink(std::uint64_t seed, std::vector<Action> actions,
                           std::string_view promise, const std::function<bool()>& may_go_on) {
    const auto still_breaks = [&](const std::vector<Action>& fewer) {
        const auto result = run(seed, fewer);
        return result.broken && result.broken->promise == promise;
    };
    for (auto piece = std::max<std::size_t>(actions.size() / 2, 1); piece > 0;) {
        bool shorter = false;
        for (std::size_t at = 0; at < actions.size() && may_go_on();) {
            auto fewer = actions;
            const auto first = fewer.begin() + static_cast<std::ptrdiff_t>(at);
            const auto size = std::min(piece, actions.size() - at);
            fewer.erase(first, first + static_cast<std::ptrdiff_t>(size));
            if (still_breaks(fewer)) {
                actions = std::move(fewer);
                shorter = true;
            } else {
                at += size;
            }
        }
        if (!may_go_on()) break;
        if (!shorter || piece > 1) piece /= 2;
    }
    return actions;
}

}  // namespace knell::sim
