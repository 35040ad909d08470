#pragma once

#include "engine/reply.hpp"
#include "wire/field_rows.hpp"
#include "wire/json.hpp"

/// What is told of calls of tools and of agents that are stuck.
namespace knell::rpc {

namespace tool_rows {

using namespace wire::fields;

inline constexpr std::array nudge_fields{
    always_one_of<NudgeLevel>("level", "how urgent it is"),
    always_one_of<NudgeKind>("kind", "in what way the agent is stuck"),
    always("text", text, "what to tell the agent"),
    always("streak", integer, "after how many calls"),
    always("tool", text, "the tool of the last call"),
    always("session_id", id, "the session"),
};
inline constexpr std::array told_fields{
    always_one_of<NudgeLevel>("level", "how urgent it was"),
    always_one_of<NudgeKind>("kind", "in what way the agent was stuck"),
    always("text", text, "what the agent was told"),
    always("streak", integer, "after how many calls"),
    always("tool", text, "the tool of the last of them"),
    always("at", time, "when"),
};
inline constexpr std::array breaker_fields{
    always_one_of<BreakerState>("state", "whether calls are refused"),
    Field{.name = "kind",
          .type = choice,
          .choices = names_of<NudgeKind>,
          .when = "it is not closed",
          .about = "in what way the agent was stuck"},
    only("it is not closed", "left_s", number,
         "open: until it lets one call through; half open: until it lets another one"),
};
inline constexpr std::array guard_fields{
    always("errors", integer, "the last so many calls failed"),
    always("same_call", integer, "the last so many were the same call with the same result"),
    always("same_tool", integer, "the last so many were of the same tool"),
    always("cycle", integer, "the last so many were two calls by turns"),
    always("tool", text, "the tool of the last call"),
    only("there was one", "error", text, "the last error, cut"),
    Field{.name = "nudge",
          .type = object,
          .fields = told_fields,
          .when = "there was one",
          .about = "what the agent was told last"},
    always_object("breaker", breaker_fields, "the circuit breaker"),
};

}  // namespace tool_rows

JsonObject render_nudge(const ToolsReportedReply::Nudge& nudge);
/// Nothing where no call was reported.
std::optional<JsonObject> render_guard(const InspectReply& live);

}  // namespace knell::rpc
