#include "rpc/methods/tool_row.hpp"

namespace knell::rpc {

namespace {

JsonObject render(const Stuck& stuck) {
    return {{"level", name_in(nudge_level_names, stuck.level)},
            {"kind", name_in(nudge_kind_names, stuck.kind)},
            {"text", nudge_text(stuck)},
            {"streak", stuck.streak},
            {"tool", stuck.tool}};
}

JsonObject render(const Breaker& breaker, std::chrono::milliseconds left) {
    JsonObject object{{"state", name_in(breaker_state_names, breaker.state)}};
    if (breaker.state == BreakerState::closed) return object;
    object["kind"] = name_in(nudge_kind_names, breaker.kind);
    object["left_s"] = static_cast<double>(left.count()) / 1000;
    return object;
}

}  // namespace

JsonObject render_nudge(const ToolsReportedReply::Nudge& nudge) {
    auto object = render(nudge.stuck);
    object["session_id"] = nudge.session_id.text();
    return object;
}

std::optional<JsonObject> render_guard(const InspectReply& live) {
    if (!live.guard) return std::nullopt;
    const auto& guard = *live.guard;
    JsonObject object{{"errors", guard.errors},
                      {"same_call", guard.same_call},
                      {"same_tool", guard.same_tool},
                      {"cycle", guard.cycle},
                      {"tool", guard.tool}};
    if (!guard.error.empty()) object["error"] = guard.error;
    if (guard.told) {
        auto told = render(*guard.told);
        told["at"] = format_rfc3339(guard.told_at);
        object["nudge"] = std::move(told);
    }
    object["breaker"] = render(guard.breaker, live.breaker_left);
    return object;
}

}  // namespace knell::rpc
