#include "platform/file_holders.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "platform/proc_stat.hpp"
#include "testing/held_file.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

using testing::HeldFile;
using ::testing::IsEmpty;
using testing::TempFolder;

std::string write_file(const std::string& path) {
    std::ofstream(path) << "some bytes";
    return path;
}

TEST(FileHolders, FindWhoHasItOpenUnderAnyName) {
    const TempFolder folder;
    const auto path = write_file(folder.path() + "/one");
    const auto link = folder.path() + "/another";
    ASSERT_EQ(::link(path.c_str(), link.c_str()), 0);
    const HeldFile holder(link);

    const auto found = find_file_holders({path});

    ASSERT_EQ(found.holders.size(), 1U);
    EXPECT_EQ(found.holders.front().pid, holder.pid());
    EXPECT_EQ(found.holders.front().start_ticks, read_proc_stat(holder.pid())->start_ticks);
    EXPECT_FALSE(found.holders.front().command.empty());
}

TEST(FileHolders, LeaveOutThisProcessAndOtherFiles) {
    const TempFolder folder;
    const auto path = write_file(folder.path() + "/one");
    const HeldFile holder(write_file(folder.path() + "/other"));
    const std::ifstream own(path);

    EXPECT_THAT(find_file_holders({path}).holders, IsEmpty());
}

TEST(FileHolders, ThereAreNoneOfAFileThatIsNotThere) {
    const auto found = find_file_holders({"/nowhere/at/all"});

    EXPECT_THAT(found.holders, IsEmpty());
    EXPECT_THAT(found.unseen, IsEmpty());
}

TEST(FileHolders, SayWhenNothingCanBeSeen) {
    const TempFolder folder;
    const auto path = write_file(folder.path() + "/one");

    const auto found = find_file_holders({path}, folder.path() + "/no-proc");

    ASSERT_EQ(found.unseen.size(), 1U);
}

}  // namespace
}  // namespace knell
