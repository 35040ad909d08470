#pragma once

#include "wire/json.hpp"

namespace knell::cli {

/// What `knell wait` exits with for a session that has ended, as session.show has it: the exit
/// status of its command, 128 and the signal where one ended it, as a shell says it; 0 for what
/// completed without one, and 1 where nobody knows how it went.
int wait_status(const JsonObject& ended);

}  // namespace knell::cli
