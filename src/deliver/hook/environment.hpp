#pragma once

#include <string>
#include <vector>

#include "core/error.hpp"
#include "deliver/rendered_event.hpp"

namespace knell {

/// What every program that we start finds in its environment, as NAME=value: of ours only what
/// programs need to find their way (the daemon may have been started from a shell full of secrets).
/// The PATH is without the directories that somebody else could put a program into.
///
/// `ours` is an environment as C has it: ended by a null pointer.  `limit`: the PATH cannot be
/// looked at for now.
Result<std::vector<std::string>> base_environment(const char* const* ours);

/// What a hook finds: that, and what the event is about.
///
/// Never KNELL_SOCKET: beside KNELL_SESSION_ID it marks the processes of a session, and a hook must
/// not be taken for something the session left behind.
Result<std::vector<std::string>> hook_environment(const char* const* ours,
                                                  const RenderedEvent& rendered);

}  // namespace knell
