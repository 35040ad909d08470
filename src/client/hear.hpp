#pragma once

#include <chrono>

#include "client/connection.hpp"
#include "client/deadline.hpp"

namespace knell::client {

/// Waits until the daemon tells something of what was subscribed to, or `look_again` or the time
/// has passed.  All that was told counts as one: whoever asks looks at everything anew.
Result<void> hear(Connection& connection, const Deadline& deadline,
                  std::chrono::milliseconds look_again);

}  // namespace knell::client
