#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "action.hpp"
#include "coverage.hpp"
#include "promises.hpp"

namespace knell::sim {

struct RunResult {
    std::optional<Broken> broken;
    std::size_t actions = 0;  // taken until then
    Coverage coverage;
    std::uint64_t digest = 0;
};

/// Deterministic: the same seed and actions give the same result.  `trace` takes a line for each
/// thing that happens.
RunResult run(std::uint64_t seed, const std::vector<Action>& actions,
              std::vector<std::string>* trace = nullptr);

/// The shortest list of actions found that breaks the same promise, by leaving out ever smaller
/// pieces.  `may_go_on` ends the search.
std::vector<Action> shrink(std::uint64_t seed, std::vector<Action> actions,
                           std::string_view promise, const std::function<bool()>& may_go_on);

}  // namespace knell::sim
