#include "platform/folder_watch.hpp"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "testing/temp_folder.hpp"

namespace knell {
namespace {

class FolderWatchTest : public ::testing::Test {
  protected:
    void write(const std::string& name) const { std::ofstream(folder_ + "/" + name) << "x"; }

    /// The kernel counts what it grants for each user, on all of the machine: others may have it
    /// all for a moment.
    static void wait_until_granted(FolderWatch& watch) {
        const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds{60};
        while (!watch.trouble().empty() && std::chrono::steady_clock::now() < give_up) {
            std::this_thread::yield();
            watch.look();
        }
        ASSERT_EQ(watch.trouble(), "");
    }

    const testing::TempFolder temp_;
    const std::string folder_ = temp_.path();
};

TEST_F(FolderWatchTest, SeesWhatIsAddedChangedAndRemoved) {
    FolderWatch watch;
    wait_until_granted(watch);
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
    wait_until_granted(watch);
    watch.watch(folder_, {"config.yaml"});
    write("knell.db-wal");
    EXPECT_FALSE(watch.take_change());
    write("config.yaml");
    EXPECT_TRUE(watch.take_change());
}

TEST_F(FolderWatchTest, AFolderThatIsRemovedAndMadeAgainCanBeWatchedAgain) {
    FolderWatch watch;
    wait_until_granted(watch);
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

/// Not with a limit of descriptors: the sanitizers need some to look at memory.
bool is_refused = false;
int ask_or_refuse() {
    if (!is_refused) return FolderWatch::ask_system();
    errno = EMFILE;
    return -1;
}

TEST_F(FolderWatchTest, WithoutTheKernelItLooksAndGoesBackToItByItself) {
    is_refused = true;
    FolderWatch watch(ask_or_refuse);
    EXPECT_NE(watch.trouble(), "");
    EXPECT_EQ(watch.descriptor(), -1);
    watch.watch(folder_);
    watch.watch(folder_ + "/missing");
    write("a");
    EXPECT_FALSE(watch.take_change()) << "nobody tells";
    EXPECT_TRUE(watch.look());
    EXPECT_FALSE(watch.look()) << "each change is told once";
    write("b");

    is_refused = false;
    EXPECT_TRUE(watch.look());

    wait_until_granted(watch);
    EXPECT_GE(watch.descriptor(), 0);
    EXPECT_FALSE(watch.look());
    write("c");
    EXPECT_TRUE(watch.take_change());
}

}  // namespace
}  // namespace knell
