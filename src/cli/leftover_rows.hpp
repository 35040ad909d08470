#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/table.hpp"
#include "wire/json.hpp"

namespace knell::cli {

/// More are counted: a terminal is not flooded by what a build left behind.
inline constexpr std::size_t leftover_lines_max = 10;

/// "4242 sleep 300 (KNELL_SESSION_ID in its environment)"
std::string leftover_text(const JsonObject& leftover);

/// One line each, for the terminal of a command that ended, with what becomes of them.  Those that
/// are gone already are not worth one.
std::vector<std::string> leftover_lines(const JsonArray& leftovers, std::string_view session_id);

/// How many had not gone by themselves when the session ended.
std::size_t count_running(const JsonArray& leftovers);
/// Of them, those that the daemon was stopping when this was written.
std::size_t count_stopping(const JsonArray& leftovers);

/// One row each: pid, command, what became of it, how it is known to be the session's.
Table leftover_table(const JsonArray& leftovers);
/// The same for a terminal: where it would cut what they are, each has lines of its own.
std::string leftovers_text(const JsonArray& leftovers, const Terminal& terminal);

}  // namespace knell::cli
