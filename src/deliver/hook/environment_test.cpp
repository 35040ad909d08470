#include "deliver/hook/environment.hpp"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace knell {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr std::array<const char*, 1> nothing{nullptr};

TEST(HookEnvironment, PassesOnOnlyWhatProgramsNeed) {
    const std::array<const char*, 13> ours{"PATH=/bin",
                                           "HOME=/home/me",
                                           "OPENAI_API_KEY=sk-1",
                                           "LC_ALL=C.UTF-8",
                                           "LC=x",
                                           "XDG_RUNTIME_DIR=/r",
                                           "KNELL_HOME=/k",
                                           "KNELL_SOCKET=/k/knell.sock",
                                           "PATHOLOGICAL=1",
                                           "KNELL_SESSION_ID=s0",
                                           "LD_PRELOAD=/evil.so",
                                           "broken",
                                           nullptr};
    EXPECT_THAT(hook_environment(ours.data(), {.seq = 1}).value(),
                UnorderedElementsAre("PATH=/bin", "HOME=/home/me", "LC_ALL=C.UTF-8",
                                     "XDG_RUNTIME_DIR=/r", "KNELL_HOME=/k", "KNELL_EVENT_SEQ=1"));
}

TEST(HookEnvironment, SaysWhatTheEventIsAbout) {
    const RenderedEvent rendered{
        .seq = 7,
        .id = "n-7",
        .type = "session:end",
        .time = {},
        .session_id = "s1",
        .json = R"json({"type":"session:end","session_key":"agent:main","reason":"signaled",
                    "detail":"signal 9 (SIGKILL)","title":"claude","cwd":"/home/me/proj",
                    "command":"claude -p","host":"here","pid":4242})json"};
    EXPECT_THAT(hook_environment(nothing.data(), rendered).value(),
                ElementsAre("KNELL_EVENT=session:end", "KNELL_EVENT_ID=n-7", "KNELL_EVENT_SEQ=7",
                            "KNELL_SESSION_ID=s1", "KNELL_SESSION_KEY=agent:main",
                            "KNELL_REASON=signaled", "KNELL_DETAIL=signal 9 (SIGKILL)",
                            "KNELL_TITLE=claude", "KNELL_CWD=/home/me/proj",
                            "KNELL_COMMAND=claude -p", "KNELL_HOST=here", "KNELL_PID=4242"));
}

TEST(HookEnvironment, LeavesOutWhatTheEventDoesNotHave) {
    const RenderedEvent rendered{
        .seq = 8, .id = "n-8", .type = "notice", .json = R"({"reason":7})"};
    EXPECT_THAT(hook_environment(nothing.data(), rendered).value(),
                ElementsAre("KNELL_EVENT=notice", "KNELL_EVENT_ID=n-8", "KNELL_EVENT_SEQ=8"));
}

TEST(HookEnvironment, LeavesOutWhatCannotBeToldWhole) {
    const auto path = "PATH=" + std::string(limits::hook_variable_bytes_max + 1, 'x');
    const std::array<const char*, 2> ours{path.c_str(), nullptr};
    const RenderedEvent rendered{.seq = 9,
                                 .session_id = std::string("a\0b", 3),
                                 .json = R"({"session_key":"a\u0000b","reason":")" +
                                         std::string(limits::hook_variable_bytes_max + 1, 'x') +
                                         "\"}"};
    EXPECT_THAT(hook_environment(ours.data(), rendered).value(), ElementsAre("KNELL_EVENT_SEQ=9"));
}

}  // namespace
}  // namespace knell
