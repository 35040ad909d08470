#pragma once

#include <string>
#include <vector>

#include "client/connection.hpp"
#include "client/deadline.hpp"
#include "platform/paths.hpp"

namespace knell::client {

inline constexpr std::chrono::milliseconds start_timeout_default{10'000};

/// The names of variables that a new daemon gets besides the usual ones, asked for only when one is
/// started; see daemon_environment.
using NameVariables = std::vector<std::string> (*)(const Paths&);

/// A connection to the daemon that runs, or to one started for it.
///
/// Many may do this at the same moment: one daemon wins the lock, the others' exit, and all
/// starters end up connected to the winner.  Where KNELL_SOCKET names the socket of another home
/// none is started: it would not listen there.
Result<Connection> connect_or_start(const Paths& paths, NameVariables name_variables,
                                    const Deadline& deadline);

/// Starts `knell up` in a session of its own and waits until it answers, at the socket of its home.
/// A daemon that holds the lock of this home is waited for instead; none is started where the
/// socket is in use by the daemon of another home.  `options` are those of the `knell up`.
Result<Connection> start_daemon(const Paths& paths, NameVariables name_variables,
                                const Deadline& deadline,
                                const std::vector<std::string>& options = {});

}  // namespace knell::client
