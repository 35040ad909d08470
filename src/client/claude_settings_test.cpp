#include "client/claude_settings.hpp"

#include <gtest/gtest.h>

namespace knell::client {
namespace {

TEST(ClaudeSettings, RunTheCommandAtEachEventThatIsOfUse) {
    const auto settings = claude_settings("'/opt/my tools/knell' hook claude-code");

    const auto& hooks = settings.at("hooks").as_object();
    EXPECT_EQ(hooks.size(), 8U);
    for (const auto* event : {"SessionStart", "SessionEnd", "UserPromptSubmit", "Stop",
                              "StopFailure", "PreToolUse", "PostToolUse", "PostToolUseFailure"}) {
        const auto& handler = hooks.at(event).at(0).at("hooks").at(0);
        EXPECT_EQ(handler.at("type"), "command") << event;
        EXPECT_EQ(handler.at("command"), "'/opt/my tools/knell' hook claude-code") << event;
        EXPECT_GT(handler.at("timeout").as_int64(), 1) << event;
    }
}

}  // namespace
}  // namespace knell::client
