#pragma once

#include "daemon/claims.hpp"
#include "net/event_loop.hpp"
#include "platform/supervisor.hpp"

namespace knell {

/// The socket that a supervisor listens at already, if it handed one over, is this daemon's from
/// here on.
Result<void> take_over_socket(Supervisor& supervisor, Claims& claims);

/// Tells it that the daemon is ready, and from then on that its loop turns.  `supervisor` outlives
/// the loop.
void tell_readiness(const Supervisor& supervisor, net::EventLoop& loop);

}  // namespace knell
