#pragma once

#include "client/connection.hpp"
#include "client/deadline.hpp"
#include "platform/paths.hpp"

namespace knell::client {

/// A connection to the daemon of this home, or to the one that KNELL_SOCKET names.
///
/// Homes that are told apart by XDG_STATE_HOME or HOME alone share one socket.  Whose daemon
/// listens there is read from the lock beside it: that costs no round trip.  Another home's is
/// `unreachable`: what is told to it would be missing in the record of this one.
Result<Connection> connect(const Paths& paths, const Deadline& deadline);
inline Result<Connection> connect(const Paths& paths) {
    return connect(paths, Deadline{call_timeout_default});
}

/// Why the daemon that listens at the socket of this home is not to be used; also where
/// KNELL_SOCKET names another.
Result<void> check_home(const Paths& paths);

}  // namespace knell::client
