#pragma once

#include "base/time.hpp"
#include "core/rendered_event.hpp"

namespace knell::testing {

/// An event to be delivered, and the time at which that is tried.
inline const RenderedEvent sample_event{.seq = 42,
                                        .id = "s1_1_end",
                                        .type = "session:end",
                                        .time = "2026-11-15T03:52:25.001Z",
                                        .session_id = "s1",
                                        .json = R"({"seq":42})"};
inline const WallTime sample_now = *parse_rfc3339("2026-11-15T03:52:25.900Z");

}  // namespace knell::testing
