#pragma once

#include <string>

#include "base/time.hpp"
#include "platform/terminal.hpp"
#include "wire/json.hpp"

namespace knell::cli {

/// What a search found, one after the other: the session, who said it and when, what it is called,
/// and below that the piece of text with its words marked.  Pure.
std::string search_rows(const JsonArray& results, const Terminal& terminal, WallTime now);

}  // namespace knell::cli
