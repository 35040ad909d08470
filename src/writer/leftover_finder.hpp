#pragma once

#include <string>
#include <vector>

#include "watch/cached_tree.hpp"
#include "watch/leftovers.hpp"
#include "watch/live_owners.hpp"
#include "writer/write_step.hpp"

namespace knell {

/// What to look for when the owner of these commands is gone.
std::vector<LeftoverSearch> searches_for(const FindLeftovers& what, const std::string& socket);

/// One look at all processes for all owners that died while no daemon ran.  No grace: what was
/// about to exit has had the time.
class FinderAtStart final : public LeftoverFinder {
  public:
    FinderAtStart(const ProcessTree& tree, LiveOwners& owners, const std::string& socket)
        : tree_(tree), owners_(owners), socket_(socket) {}

    void protect(const ProcessIdentity& owner) override { owners_.add(owner); }
    std::vector<FoundLeftovers> find(const FindLeftovers& what) override;

  private:
    const CachedTree tree_;
    LiveOwners& owners_;
    const std::string& socket_;
};

}  // namespace knell
