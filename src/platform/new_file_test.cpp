#include "platform/new_file.hpp"

#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "platform/small_file.hpp"
#include "testing/refused_calls.hpp"
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

#ifndef KNELL_NEEDS_DESCRIPTORS
TEST(NewFile, ThatCannotBeWrittenIsNotLeftHalfWritten) {
    const testing::TempFolder folder;
    const auto path = folder.path() + "/new";
    for (const long call : {SYS_write, SYS_fsync, SYS_fchmod}) {
        testing::with_refused_calls({call}, ENOSPC, [&] {
            const auto written = write_new_file(path, "text");
            ASSERT_FALSE(written);
            EXPECT_EQ(written.error().code, ErrorCode::storage);
            EXPECT_EQ(written.error().message,
                      "cannot write " + path + ": No space left on device");
        });
        EXPECT_FALSE(std::filesystem::exists(path));
    }
    testing::with_refused_calls({SYS_openat}, EACCES,
                                [&] { EXPECT_FALSE(write_new_file(path, "text")); });
}
#endif

TEST(NewFile, WhoseDirectoryCannotBeMadeIsRefused) {
    EXPECT_FALSE(write_new_file("/proc/none/new", "text"));
}

}  // namespace
}  // namespace knell
