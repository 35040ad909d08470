#pragma once

#include <cstddef>
#include <string>

#include "core/ids.hpp"
#include "core/leftover.hpp"
#include "core/owner.hpp"
#include "rpc/backend.hpp"

namespace knell::rpc {

/// Somebody wants the process that keeps a session to be ended.
struct StopOwner {
    SessionId session_id;
    ProcessIdentity process;
    std::string what;  // "knell stop": what the record says it ended after
    std::string said_by;
    bool only_asks = false;
};
/// What came of it.
struct OwnerStop {
    std::size_t sessions = 0;   // that it keeps; 0: none any more.  More than one: nothing was done
    Fate fate = Fate::unknown;  // unknown: nothing was to be done
    std::string why_left{};     // its fate is `left`
};

/// A backend that has processes it may signal; one without them stops nobody.
class OwnerStopping {
  public:
    virtual ~OwnerStopping() = default;
    /// Ends the process that keeps a session by signals, unless it keeps others too; the session
    /// ends by that a moment later.
    virtual void stop_owner(StopOwner request, Done<OwnerStop> done) = 0;
};

}  // namespace knell::rpc
