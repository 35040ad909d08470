#include "cli/daemon_log.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/temp_folder.hpp"

namespace knell::cli {
namespace {

class DaemonLog : public ::testing::Test {
  protected:
    void write(const std::string& path, std::string_view text) const {
        std::ofstream(path, std::ios::app | std::ios::binary) << text;
    }
    testing::TempFolder folder_;
    const std::string path_ = folder_.path() + "/knell.log";
};

TEST_F(DaemonLog, ItsLastLinesAreThoseOfOlderFilesToo) {
    write(path_ + ".2", "one\ntwo\n");
    write(path_ + ".1", "three\nfour\n");
    write(path_, "five\nsix\n");

    EXPECT_EQ(last_log_lines(path_, 1), "six\n");
    EXPECT_EQ(last_log_lines(path_, 2), "five\nsix\n");
    EXPECT_EQ(last_log_lines(path_, 3), "four\nfive\nsix\n");
    EXPECT_EQ(last_log_lines(path_, 5), "two\nthree\nfour\nfive\nsix\n");
    EXPECT_EQ(last_log_lines(path_, 50), "one\ntwo\nthree\nfour\nfive\nsix\n");
}

TEST_F(DaemonLog, ALineThatIsNotWholeYetCounts) {
    write(path_, "one\ntwo\nthr");
    EXPECT_EQ(last_log_lines(path_, 2), "two\nthr");
}

TEST_F(DaemonLog, WithoutAFileSaysWhereItWouldBe) {
    const auto lines = last_log_lines(path_, 5);
    ASSERT_FALSE(lines);
    EXPECT_EQ(lines.error().code, ErrorCode::not_found);
    EXPECT_THAT(lines.error().message, ::testing::HasSubstr(path_));
}

TEST_F(DaemonLog, IsFollowedFromItsEndOverARotation) {
    write(path_, "old\n");
    LogFollower follower(path_);
    EXPECT_EQ(follower.read_more(), "");
    write(path_, "one\n");
    EXPECT_EQ(follower.read_more(), "one\n");

    write(path_, "two\n");
    std::filesystem::rename(path_, path_ + ".1");
    write(path_ + ".1", "three\n");
    write(path_, "four\n");
    EXPECT_EQ(follower.read_more(), "two\nthree\n");
    EXPECT_EQ(follower.read_more(), "four\n");
    EXPECT_EQ(follower.read_more(), "");
}

TEST_F(DaemonLog, MayComeLater) {
    LogFollower follower(path_);
    EXPECT_EQ(follower.read_more(), "");
    write(path_, "one\n");
    EXPECT_EQ(follower.read_more(), "one\n");
}

}  // namespace
}  // namespace knell::cli
