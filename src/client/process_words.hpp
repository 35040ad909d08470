#pragma once

#include <string>

#include "wire/json.hpp"

namespace knell::client {

/// Words for a row of process.list, the same wherever a person or an agent reads them.  Whatever
/// is missing in the row is left out.

bool is_running(const JsonObject& process);
/// It, or something that belongs to it.
bool is_being_stopped(const JsonObject& process);
/// "exit 3", "signal 9 (SIGKILL)", "gone, nobody saw how"; "" while it runs.
std::string exit_words(const JsonObject& process);
/// What its session is to it where it is no longer open: "its session has ended".  Else "".
std::string session_words(const JsonObject& process);

}  // namespace knell::client
