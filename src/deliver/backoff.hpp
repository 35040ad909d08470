#pragma once

#include <chrono>
#include <string_view>

#include "core/session.hpp"

namespace knell {

/// A receiver that fails for this long after the first attempt has lost the event: it becomes a
/// dead letter, which a person can send again.
inline constexpr std::chrono::hours give_up_after{72};

/// How long to wait after the `failures`-th failure of an event: 5 s, then four times as long each
/// time up to six hours, give or take a fifth.  The jitter follows from who and what, so that many
/// events that failed together do not come back together, and a replay waits the same.
std::chrono::milliseconds backoff(std::string_view subscriber, Seq seq, int failures);

}  // namespace knell
