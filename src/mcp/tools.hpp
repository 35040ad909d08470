#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "mcp/protocol_version.hpp"
#include "wire/json.hpp"

namespace knell::mcp {

enum class ArgumentType : std::uint8_t { text, integer, boolean, words, variables };

/// One row: the schema that agents see and the check of what they give come from it.
struct Argument {
    std::string_view name;
    ArgumentType type = ArgumentType::text;
    bool required = false;
    std::int64_t min = 0;  // of an integer
    std::int64_t max = 0;
    std::string_view about;
};

enum class ToolName : std::uint8_t {
    session_status,
    process_list,
    process_start,
    process_output,
    process_stop,
    process_vouch
};

struct Tool {
    ToolName id;
    std::string_view name;
    std::string_view title;
    std::string_view about;
    bool only_reads = false;
    bool destroys = false;
    bool repeatable = false;  // twice is as good as once
    std::span<const Argument> arguments;
};

/// All there are, in the order of ToolName.
std::span<const Tool> tools();
/// nullptr when there is none of that name.
const Tool* find_tool(std::string_view name);

/// As tools/list tells it, in that revision of the protocol.
JsonObject describe(const Tool& tool, const ProtocolVersion& version);
/// What is wrong with the arguments, for the model that gave them; nothing when all is well.
/// Bounds on texts are the daemon's.
std::optional<std::string> why_not(const Tool& tool, const JsonObject& given);

}  // namespace knell::mcp
