#include "platform/folder_watch.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "testing/temp_folder.hpp"

namespace knell {
namespace {

class FolderWatchTest : public ::testing::Test {
  protected:
    void write(const std::string& name) const { std::ofstream(folder_ + "/" + name) << "x"; }

    const testing::TempFolder temp_;
    const std::string folder_ = temp_.path();
};

TEST_F(FolderWatchTest, SeesWhatIsAddedChangedAndRemoved) {
    FolderWatch watch;
    watch.watch(folder_);
    EXPECT_FALSE(watch.take_change());
    write("a");
    EXPECT_TRUE(watch.take_change());
    EXPECT_FALSE(watch.take_change()) << "each change is told once";
    write("a");
    EXPECT_TRUE(watch.take_change());
    std::filesystem::permissions(folder_ + "/a", std::filesystem::perms::owner_exec,
                                 std::filesystem::perm_options::add);
    EXPECT_TRUE(watch.take_change());
    std::filesystem::remove(folder_ + "/a");
    EXPECT_TRUE(watch.take_change());
}

TEST_F(FolderWatchTest, OnlyNamedEntriesCount) {
    FolderWatch watch;
    watch.watch(folder_, {"config.yaml"});
    write("knell.db-wal");
    EXPECT_FALSE(watch.take_change());
    write("config.yaml");
    EXPECT_TRUE(watch.take_change());
}

TEST_F(FolderWatchTest, AFolderThatIsRemovedAndMadeAgainCanBeWatchedAgain) {
    FolderWatch watch;
    watch.watch(folder_, {"hooks"});
    std::filesystem::create_directory(folder_ + "/hooks");
    EXPECT_TRUE(watch.take_change());
    watch.watch(folder_ + "/hooks");
    std::filesystem::remove(folder_ + "/hooks");
    EXPECT_TRUE(watch.take_change());
    std::filesystem::create_directory(folder_ + "/hooks");
    EXPECT_TRUE(watch.take_change());
    watch.watch(folder_ + "/hooks");
    write("hooks/a");
    EXPECT_TRUE(watch.take_change());
}

}  // namespace
}  // namespace knell
