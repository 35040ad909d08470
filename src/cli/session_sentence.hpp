#pragma once

#include <string>
#include <string_view>

#include "base/time.hpp"
#include "wire/json.hpp"

namespace knell::cli {

/// One plain sentence about a session: "claude in ~/proj died of SIGKILL 2 h after it started."
/// `home` is what "~" means.  Pure.
std::string session_sentence(const JsonObject& session, std::string_view home, WallTime now);

/// "12 s", "35 min", "2 h", "5 days".
std::string plain_duration(std::chrono::seconds duration);

}  // namespace knell::cli
