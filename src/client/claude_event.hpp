#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/ids.hpp"
#include "wire/json.hpp"

namespace knell::client {

/// What Claude Code says to a hook on standard input, as far as it is of use here.
struct ClaudeEvent {
    enum class Kind : std::uint8_t {
        session_start,
        session_end,
        prompt,          // UserPromptSubmit
        stop,            // Stop, StopFailure
        before_tool,     // PreToolUse
        tool_succeeded,  // PostToolUse
        tool_failed,     // PostToolUseFailure
        other,
    };
    Kind kind = Kind::other;
    std::string name;  // as it says it
    SessionId session;
    std::string cwd;
    std::string word;   // of a start its source, of an end its reason
    std::string title;  // of a start, where it has one
    std::string model;
    std::string tool;
    std::string args;             // of the tool, as a hash; "": none
    std::string result;           // the same
    std::string error;            // of the tool
    bool is_interrupted = false;  // the user stopped the tool: nothing has failed
};

/// A result is as long as what a tool has read.
inline constexpr std::size_t claude_event_bytes_max = 16U << 20U;

/// Fields and events that are not known are left out; what is known and no use is an error.
Result<ClaudeEvent> parse_claude_event(std::string_view text);

/// What Claude Code takes from a hook's standard output: words for the agent behind a call of a
/// tool, or the refusal of one.
std::string claude_context(const ClaudeEvent& event, std::string_view words);
std::string claude_refusal(std::string_view why);

}  // namespace knell::client
