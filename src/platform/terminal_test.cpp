#include "platform/terminal.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

TEST(WantsColour, OnlyOnATerminalThatCan) {
    EXPECT_TRUE(wants_colour(/*interactive=*/true, "", "xterm-256color"));
    EXPECT_FALSE(wants_colour(/*interactive=*/false, "", "xterm-256color"));
    EXPECT_FALSE(wants_colour(/*interactive=*/true, "", "dumb"));
    EXPECT_FALSE(wants_colour(/*interactive=*/true, "", ""));
}

TEST(WantsColour, AnyNoColorButTheEmptyOneCounts) {
    EXPECT_FALSE(wants_colour(/*interactive=*/true, "1", "xterm"));
    EXPECT_FALSE(wants_colour(/*interactive=*/true, "0", "xterm"));
}

}  // namespace
}  // namespace knell
