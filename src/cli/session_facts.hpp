#pragma once

#include <string>
#include <string_view>

#include "base/time.hpp"
#include "platform/local_time.hpp"
#include "wire/json.hpp"

namespace knell::cli {

// What the fields of a session say, each as one line for a person; "" where there is nothing.

/// How the times of results are shown.
struct ShownTime {
    WallTime now;
    ShownZone zone = ShownZone::local;
};

/// As of now.
ShownTime shown_time(bool utc);

/// "2026-11-15 03:52:25 CET (3m ago)"
std::string time_of(const JsonObject& object, std::string_view name, const ShownTime& shown);
/// "2026-11-15 03:52:25.001 CET", for who compares it with a log; as it is when it is no time.
std::string exact_time_of(const JsonObject& object, std::string_view name, ShownZone zone);
/// "process 4242 on host since ..."
std::string owner_text(const JsonObject& session, const ShownTime& shown);
/// "end", or "park for 300 s"
std::string owner_loss_text(const JsonObject& session);
/// "signaled (observed): signal 9 (SIGKILL)"
std::string end_text(const JsonObject& session);
/// "between ... and ..."; "" when the moment is known.
std::string bounds_text(const JsonObject& session, ShownZone zone);

}  // namespace knell::cli
