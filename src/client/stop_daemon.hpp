#pragma once

#include <optional>

#include <sys/types.h>

#include "client/deadline.hpp"
#include "core/error.hpp"
#include "platform/paths.hpp"

namespace knell::client {

inline constexpr std::chrono::milliseconds stop_timeout_default{10'000};

/// Asks the daemon of this home to stop, by SIGTERM when its socket does not answer, and waits
/// until its process is gone.  Its pid as it is here, 0 when it has none; nothing when no daemon
/// ran.
Result<std::optional<pid_t>> stop_daemon(const Paths& paths, const Deadline& deadline);

}  // namespace knell::client
