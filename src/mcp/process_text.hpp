#pragma once

#include <string>
#include <string_view>

#include "wire/json.hpp"

/// Results of the daemon in words, for a model that reads nothing else of them.  Pure.
namespace knell::mcp {

/// One process on one line.
std::string process_text(const JsonObject& process);
/// A page of process.list; `of_whom` is "of session s".
std::string list_text(const JsonObject& page, std::string_view of_whom);
/// A session of session.show, and its processes.
std::string status_text(const JsonObject& session, const JsonObject& page);
/// What is to be known of a page of process.output besides the output itself.
std::string output_text(const JsonObject& page);

}  // namespace knell::mcp
