#include "client/claude_settings.hpp"

#include <array>

namespace knell::client {

namespace {

struct Hooked {
    std::string_view event;
    int timeout_s;
};
/// A daemon that is slow holds up nobody for longer; the end of a session is given a second by
/// default, for all hooks together, unless one of them asks for more.
constexpr std::array hooked{
    Hooked{"SessionStart", 10}, Hooked{"SessionEnd", 10},        Hooked{"UserPromptSubmit", 5},
    Hooked{"Stop", 5},          Hooked{"StopFailure", 5},        Hooked{"PreToolUse", 5},
    Hooked{"PostToolUse", 5},   Hooked{"PostToolUseFailure", 5},
};

}  // namespace

JsonObject claude_settings(std::string_view command) {
    JsonObject hooks;
    for (const auto& [event, timeout_s] : hooked) {
        const JsonObject handler{{"type", "command"}, {"command", command}, {"timeout", timeout_s}};
        hooks[event] = JsonArray{JsonObject{{"hooks", JsonArray{handler}}}};
    }
    return {{"hooks", std::move(hooks)}};
}

}  // namespace knell::client
