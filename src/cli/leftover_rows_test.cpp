#include "cli/leftover_rows.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

JsonObject leftover(int pid, std::string_view command, std::string_view fate = "left") {
    return {{"pid", pid},
            {"start_ticks", 77},
            {"found_by", "KNELL_SESSION_ID in its environment"},
            {"command", command},
            {"fate", fate}};
}

TEST(LeftoverLines, NameTheProcessAndHowItIsKnown) {
    EXPECT_THAT(leftover_lines({leftover(4242, "sleep 300")}, "s"),
                ElementsAre("left running: 4242 sleep 300 (KNELL_SESSION_ID in its environment)"));
    EXPECT_THAT(leftover_lines({leftover(7, "", "stopping")}, "s"),
                ElementsAre("stopping: 7 (KNELL_SESSION_ID in its environment)"));
    EXPECT_THAT(
        leftover_lines({leftover(7, "tmux", "shared")}, "s"),
        ElementsAre("left running, others use it: 7 tmux (KNELL_SESSION_ID in its environment)"));
    EXPECT_THAT(leftover_lines({}, "s"), IsEmpty());
}

TEST(LeftoverLines, LeaveOutWhatIsGone) {
    const JsonArray leftovers{leftover(7, "mcp-server", "gone"), leftover(8, "sleep 1")};

    EXPECT_THAT(leftover_lines(leftovers, "s"),
                ElementsAre("left running: 8 sleep 1 (KNELL_SESSION_ID in its environment)"));
    EXPECT_EQ(count_running(leftovers), 1U);
}

TEST(LeftoverLines, ACommandLineCannotMoveTheCursor) {
    EXPECT_EQ(leftover_text(leftover(7, "x\x1b[2J\ny")),
              "7 x?[2J y (KNELL_SESSION_ID in its environment)");
}

TEST(LeftoverLines, ManyAreCounted) {
    JsonArray many;
    for (int pid = 1; pid <= 13; ++pid) many.emplace_back(leftover(pid, "sleep 1"));

    const auto lines = leftover_lines(many, "build-42");

    ASSERT_EQ(lines.size(), leftover_lines_max + 1);
    EXPECT_EQ(lines.back(), "3 more were left; see: knell why build-42");
}

TEST(LeftoverTable, HasARowEach) {
    EXPECT_EQ(leftover_table({leftover(42, "sleep 300")}).render({}),
              "PID  COMMAND    FATE  KNOWN BY\n"
              " 42  sleep 300  left  KNELL_SESSION_ID in its environment\n");
}

}  // namespace
}  // namespace knell::cli
