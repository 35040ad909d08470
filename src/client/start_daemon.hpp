#pragma once

#include <string>

#include "client/connection.hpp"
#include "client/deadline.hpp"
#include "platform/paths.hpp"

namespace knell::client {

inline constexpr std::chrono::milliseconds start_timeout_default{10'000};

/// A connection to the daemon that runs, or to one started for it.
///
/// Many may do this at the same moment: one daemon wins the lock, the others' exit, and all
/// starters end up connected to the winner.
Result<Connection> connect_or_start(const Paths& paths, const Deadline& deadline);

/// Starts `knell up` in a session of its own and waits until it answers.
Result<Connection> start_daemon(const Paths& paths, const Deadline& deadline);

}  // namespace knell::client
