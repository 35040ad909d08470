#pragma once

#include <string>
#include <vector>

#include "core/error.hpp"
#include "deliver/rendered_event.hpp"

namespace knell {

/// What a hook finds: `base_environment`, and what the event is about.
///
/// Never KNELL_SOCKET: beside KNELL_SESSION_ID it marks the processes of a session, and a hook must
/// not be taken for something the session left behind.
Result<std::vector<std::string>> hook_environment(const char* const* ours,
                                                  const RenderedEvent& rendered);

}  // namespace knell
