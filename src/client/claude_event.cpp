#include "client/claude_event.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/limits.hpp"
#include "wire/json_hash.hpp"

namespace knell::client {

namespace {

using Kind = ClaudeEvent::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 8> names{{
    {"SessionStart", Kind::session_start},
    {"SessionEnd", Kind::session_end},
    {"UserPromptSubmit", Kind::prompt},
    {"Stop", Kind::stop},
    {"StopFailure", Kind::stop},
    {"PreToolUse", Kind::before_tool},
    {"PostToolUse", Kind::tool_succeeded},
    {"PostToolUseFailure", Kind::tool_failed},
}};

Kind kind_of(std::string_view name) {
    const auto* found = std::ranges::find(names, name, &std::pair<std::string_view, Kind>::first);
    return found == names.end() ? Kind::other : found->second;
}

/// On one line and within a bound, so that no call is refused for it.
std::string line_at(const JsonObject& object, std::string_view name, std::size_t bytes_max) {
    return std::string(cut_text(printable_line(wire::text_at(object, name)), bytes_max));
}

std::string hash_at(const JsonObject& object, std::string_view name) {
    const auto* value = object.if_contains(name);
    return value == nullptr ? std::string{} : fmt::format("{:016x}", wire::hash_of(*value));
}

bool is_about_tool(Kind kind) {
    return kind == Kind::before_tool || kind == Kind::tool_succeeded || kind == Kind::tool_failed;
}

}  // namespace

Result<ClaudeEvent> parse_claude_event(std::string_view text) {
    const auto parsed = wire::parse_json(text);
    const auto* object = parsed ? parsed->if_object() : nullptr;
    if (object == nullptr) {
        return fail(ErrorCode::invalid_params,
                    parsed ? "standard input is no JSON object" : parsed.error().message);
    }
    ClaudeEvent event;
    event.name = line_at(*object, "hook_event_name", limits::word_bytes_max);
    event.kind = kind_of(event.name);
    const auto id = wire::text_at(*object, "session_id");
    if (const auto why = why_not_an_id(id)) {
        return fail(ErrorCode::invalid_params, fmt::format("session_id {}", *why));
    }
    event.session = SessionId(std::string(id));
    event.cwd = line_at(*object, "cwd", limits::cwd_bytes_max);
    const bool is_end = event.kind == Kind::session_end;
    event.word = line_at(*object, is_end ? "reason" : "source", limits::word_bytes_max);
    event.title = line_at(*object, "session_title", limits::title_bytes_max);
    event.model = line_at(*object, "model", limits::model_bytes_max);
    if (!is_about_tool(event.kind)) return event;
    event.tool = line_at(*object, "tool_name", limits::tool_name_bytes_max);
    if (event.tool.empty()) return fail(ErrorCode::invalid_params, "tool_name is missing");
    event.args = hash_at(*object, "tool_input");
    event.result = hash_at(*object, "tool_response");
    // Much longer than what is kept of it; a tool's error may be its whole output.
    constexpr std::size_t error_bytes_max = 16U << 10U;
    event.error = std::string(cut_text(wire::text_at(*object, "error"), error_bytes_max));
    event.is_interrupted = wire::bool_at(*object, "is_interrupt");
    return event;
}

std::string claude_context(const ClaudeEvent& event, std::string_view words) {
    return wire::to_text(JsonObject{
        {"hookSpecificOutput", {{"hookEventName", event.name}, {"additionalContext", words}}}});
}

std::string claude_refusal(std::string_view why) {
    return wire::to_text(JsonObject{{"hookSpecificOutput",
                                     {{"hookEventName", "PreToolUse"},
                                      {"permissionDecision", "deny"},
                                      {"permissionDecisionReason", why}}}});
}

}  // namespace knell::client
