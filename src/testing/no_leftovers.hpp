#pragma once

#include "writer/write_step.hpp"

namespace knell::testing {

/// Finds nothing, ever.
class NoLeftovers final : public LeftoverFinder {
  public:
    void protect(const ProcessIdentity&) override {}
    std::vector<FoundLeftovers> find(const FindLeftovers&) override { return {}; }
};

/// Nothing was ever written down.
class NoSpool final : public SpoolAtStart {
  public:
    void take_in(const IsOpen&, const Say&) override {}
};

}  // namespace knell::testing
