#pragma once

#include <string>
#include <string_view>

#include "base/time.hpp"
#include "wire/json.hpp"

namespace knell::cli {

// What the fields of a session say, each as one line for a person; "" where there is nothing.

/// "2026-11-15T03:52:25.001Z (3m ago)"
std::string time_of(const JsonObject& object, std::string_view name, WallTime now);
/// "process 4242 on host since ..."
std::string owner_text(const JsonObject& session, WallTime now);
/// "end", or "park for 300 s"
std::string owner_loss_text(const JsonObject& session);
/// "signaled (observed): signal 9 (SIGKILL)"
std::string end_text(const JsonObject& session);
/// "between ... and ..."; "" when the moment is known.
std::string bounds_text(const JsonObject& session);

}  // namespace knell::cli
