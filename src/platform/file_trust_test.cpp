#include "platform/file_trust.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing/temp_folder.hpp"

namespace knell {
namespace {

class FileTrust : public ::testing::Test {
  protected:
    FileTrust() { std::ofstream(path_) << ""; }

    void allow(mode_t mode) const { ASSERT_EQ(::chmod(path_.c_str(), mode), 0); }

    const testing::TempFolder temp_;
    const std::string root_ = temp_.path();
    std::string path_ = root_ + "/file";
};

TEST_F(FileTrust, OursAndRootsCanBeTrusted) {
    allow(0644);
    EXPECT_TRUE(check_only_ours(path_));
    allow(0664);
    EXPECT_TRUE(check_only_ours(path_)) << "a group is chosen by who owns the file";
    EXPECT_TRUE(check_only_ours("/bin/sh"));
}

TEST_F(FileTrust, WhatAnybodyCanWriteCannot) {
    allow(0646);
    EXPECT_EQ(check_only_ours(path_).error().code, ErrorCode::unauthorized);
    std::filesystem::create_symlink(path_, root_ + "/link");
    EXPECT_EQ(check_only_ours(root_ + "/link").error().code, ErrorCode::unauthorized);
}

TEST_F(FileTrust, NorCanWhatBelongsToSomebodyElse) {
    if (::chown(path_.c_str(), 65'534, 65'534) != 0)
        GTEST_SKIP() << "only root can give files away";
    EXPECT_EQ(check_only_ours(path_).error().code, ErrorCode::unauthorized);
}

TEST_F(FileTrust, NorWhatIsNotThere) {
    EXPECT_EQ(check_only_ours(root_ + "/gone").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace knell
