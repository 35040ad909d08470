#include "client/log_tail.hpp"

#include <gtest/gtest.h>

namespace knell::client {
namespace {

TEST(LastLines, GivesTheLastOnesInOrder) {
    EXPECT_EQ(last_lines("one\ntwo\nthree\n", 2), "two\nthree");
    EXPECT_EQ(last_lines("one\ntwo\nthree", 2), "two\nthree");
}

TEST(LastLines, EmptyLinesDoNotCount) {
    EXPECT_EQ(last_lines("one\n\n\ntwo\n\n", 2), "one\ntwo");
    EXPECT_EQ(last_lines("\n\n", 2), "");
}

TEST(LastLines, FewerThanAskedForIsAll) {
    EXPECT_EQ(last_lines("one", 5), "one");
}

TEST(LogTail, AMissingFileIsEmpty) {
    EXPECT_EQ(log_size("/nonexistent/knell.log"), 0U);
    EXPECT_EQ(log_tail("/nonexistent/knell.log", 0, 5), "");
}

}  // namespace
}  // namespace knell::client
