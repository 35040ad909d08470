#pragma once

#include "daemon/desk.hpp"

namespace knell::testing {

/// Finds nothing, ever.
class NoLeftovers final : public LeftoverFinder {
  public:
    void protect(const ProcessIdentity&) override {}
    std::vector<FoundLeftovers> find(const FindLeftovers&) override { return {}; }
};

}  // namespace knell::testing
