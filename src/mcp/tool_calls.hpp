#pragma once

#include <string>
#include <vector>

#include "mcp/surroundings.hpp"
#include "mcp/tools.hpp"

namespace knell::mcp {

/// What a tool answers.
struct ToolResult {
    std::vector<std::string> texts;  // for the model: complete in itself
    JsonObject content;              // the same for programs
    bool is_error = false;
};

/// Checks the arguments and calls the daemon.  A refusal is a result, too: the model reads it and
/// can do better.
ToolResult call_tool(const Tool& tool, const JsonObject& arguments, Surroundings& surroundings);

}  // namespace knell::mcp
