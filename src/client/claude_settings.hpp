#pragma once

#include <string>
#include <string_view>

#include "wire/json.hpp"

namespace knell::client {

/// What to put into Claude Code's settings.json, so that it runs `command` at the events that
/// ClaudeHook knows.
JsonObject claude_settings(std::string_view command);

}  // namespace knell::client
