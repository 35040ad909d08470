#pragma once

#include "activity/sample.hpp"
#include "base/time.hpp"
#include "core/owner.hpp"

namespace knell {

/// Looks at process trees.  A test may invent it.  One thread.
class SampleSource {
  public:
    virtual ~SampleSource() = default;
    /// What is shared by all looks (tables of sockets) may be read once more from now on.
    virtual void begin_round(SteadyTime now) = 0;
    /// Exactly this process, as it is now, with all that descends from it.
    virtual TreeSample look(const ProcessIdentity& process, SteadyTime now) = 0;
    /// Nobody will ask about it any more.
    virtual void forget(const ProcessIdentity& process) = 0;
};

}  // namespace knell
