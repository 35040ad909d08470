#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "watch/leftovers.hpp"

namespace knell {

/// Looks for the leftovers of one owner's commands, with a short grace for what is just exiting:
/// an agent's servers usually end moments after it, and are not left running.
///
/// A step, not a wait: the caller brings the time.
class LeftoverLook {
  public:
    static constexpr std::chrono::milliseconds grace{200};

    explicit LeftoverLook(std::vector<LeftoverSearch> searches) : searches_(std::move(searches)) {}

    /// What was found, once it is known: at once when there is nothing that might still go.  Every
    /// leftover is `gone`, `left` or `shared`.
    std::optional<std::vector<FoundLeftovers>> step(const ProcessTree& tree,
                                                    const LiveOwners& owners, SteadyTime now);

  private:
    std::vector<FoundLeftovers> look(const ProcessTree& tree, const LiveOwners& owners) const;

    const std::vector<LeftoverSearch> searches_;
    std::optional<SteadyTime> until_;  // none: nobody has looked yet
    std::vector<FoundLeftovers> first_;
};

}  // namespace knell
