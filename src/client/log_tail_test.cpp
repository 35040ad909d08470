#include "client/log_tail.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "testing/temp_folder.hpp"

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

/// A log with these bytes in it.
class LogTailFile : public ::testing::Test {
  protected:
    void write(const std::string& text) { std::ofstream(path_, std::ios::trunc) << text; }

    const testing::TempFolder folder_;
    const std::string path_ = folder_.path() + "/knell.log";
};

TEST_F(LogTailFile, ShowsWhatWasWrittenFromThereOn) {
    write("old\nnew\n");
    const auto size = log_size(path_);
    ASSERT_EQ(size, 8U);

    EXPECT_EQ(log_tail(path_, 4, 5), "new");
    EXPECT_EQ(log_tail(path_, size - 2, 5), "w");
    EXPECT_EQ(log_tail(path_, size, 5), "") << "nothing was written since";
}

TEST_F(LogTailFile, OneThatWasRotatedMeanwhileIsShownFromItsStart) {
    write("fresh\n");
    EXPECT_EQ(log_tail(path_, 7, 5), "fresh") << "one byte shorter than it was";
    EXPECT_EQ(log_tail(path_, 6, 5), "");
}

TEST_F(LogTailFile, NoMoreThanItsLast16KiBAreRead) {
    constexpr std::size_t read_max = 16U << 10U;
    const std::string line = "the first line\n";
    write(line + std::string(read_max - line.size() - 1, 'x') + "\n");
    EXPECT_EQ(log_tail(path_, 0, 5).substr(0, line.size()), line);

    write("+" + line + std::string(read_max - line.size() - 1, 'x') + "\n");
    EXPECT_EQ(log_tail(path_, 0, 5).substr(0, line.size()), line) << "and not the byte before";
}

}  // namespace
}  // namespace knell::client
