#include "platform/new_file.hpp"

#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "platform/small_file.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

namespace fs = std::filesystem;

TEST(NewFile, IsForUsAloneWithTheDirectoriesItLacks) {
    const testing::TempFolder temp;
    const auto path = temp.path() + "/a/b/file";

    ASSERT_TRUE(write_new_file(path, "words\n"));

    EXPECT_EQ(read_small_file(path), "words\n");
    struct stat seen{};
    ASSERT_EQ(::stat(path.c_str(), &seen), 0);
    EXPECT_EQ(seen.st_mode & 07777U, 0600U);
}

TEST(NewFile, TakesNobodysPlace) {
    const testing::TempFolder temp;
    const auto path = temp.path() + "/file";
    ASSERT_TRUE(write_new_file(path, "first"));

    const auto again = write_new_file(path, "second");

    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::blocked);
    EXPECT_EQ(again.error().message, path + " is there already");
    EXPECT_EQ(read_small_file(path), "first");
}

TEST(NewFile, DoesNotFollowALinkThatLeadsNowhere) {
    const testing::TempFolder temp;
    fs::create_symlink(temp.path() + "/elsewhere", temp.path() + "/file");

    EXPECT_FALSE(write_new_file(temp.path() + "/file", "words"));
    EXPECT_FALSE(fs::exists(temp.path() + "/elsewhere"));
}

}  // namespace
}  // namespace knell
