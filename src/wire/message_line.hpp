#pragma once

#include <string>

#include "core/session.hpp"

namespace knell::wire {

/// A message as a line of JSON, without its end: `{"role":…,"content":…,"tool_name"?,"tokens"?}`.
std::string message_line(const Message& message);

}  // namespace knell::wire
