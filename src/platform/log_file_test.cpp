#include "platform/log_file.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/fd.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

class LogFileTest : public ::testing::Test {
  protected:
    Fd open_log(mode_t mode = 0600) const {
        Fd file{::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, mode)};
        ::fchmod(file.get(), mode);
        return file;
    }
    static void write(const Fd& log, std::string_view text) {
        ASSERT_EQ(::write(log.get(), text.data(), text.size()), ssize_t(text.size()));
    }
    std::string text_of(const std::string& suffix) const {
        std::ifstream file(path + suffix);
        std::ostringstream text;
        text << file.rdbuf();
        return std::move(text).str();
    }

    const testing::TempFolder folder;
    const std::string path = folder.path() + "/knell.log";
    const LogFile::Limits limits{.bytes_max = 10, .files_max = 3};
};

TEST_F(LogFileTest, AFullOneIsRenamedAndTheOldestGoes) {
    const auto log = open_log();
    auto kept = LogFile::behind(log.get(), path, limits);
    ASSERT_TRUE(kept);

    for (const auto* line : {"first-----", "second----", "third-----", "fourth----", "new"}) {
        kept->rotate_when_full();
        write(log, line);
    }

    EXPECT_EQ(text_of(""), "new");
    EXPECT_EQ(text_of(".1"), "fourth----");
    EXPECT_EQ(text_of(".2"), "third-----");
    EXPECT_FALSE(std::filesystem::exists(path + ".3"));
}

TEST_F(LogFileTest, OneWithRoomIsLeftAlone) {
    const auto log = open_log();
    auto kept = LogFile::behind(log.get(), path, limits);
    write(log, "nine-----");

    kept->rotate_when_full();

    EXPECT_EQ(text_of(""), "nine-----");
    EXPECT_FALSE(std::filesystem::exists(path + ".1"));
}

TEST_F(LogFileTest, OneThatWasMovedAwayIsBegunAnew) {
    const auto log = open_log();
    auto kept = LogFile::behind(log.get(), path, limits);
    write(log, "old");
    std::filesystem::rename(path, path + ".moved");

    kept->stay_in_place();
    write(log, "new");

    EXPECT_EQ(text_of(".moved"), "old");
    EXPECT_EQ(text_of(""), "new");
}

TEST_F(LogFileTest, IsForItsUserOnly) {
    const auto log = open_log(0644);
    auto kept = LogFile::behind(log.get(), path, limits);
    struct stat found{};
    ASSERT_EQ(::stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777U, 0600U);
    write(log, "0123456789");

    kept->rotate_when_full();

    ASSERT_EQ(::stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_size, 0);
    EXPECT_EQ(found.st_mode & 07777U, 0600U);
}

TEST_F(LogFileTest, AnotherFileOrAPipeIsNobodysToRotate) {
    const auto log = open_log();
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const Fd reading{ends[0]};
    const Fd writing{ends[1]};

    EXPECT_FALSE(LogFile::behind(writing.get(), path, limits));
    EXPECT_FALSE(LogFile::behind(log.get(), path + ".other", limits));
}

TEST_F(LogFileTest, WhereNoNewFileCanBeMadeTheOldOneGoesOn) {
    const auto log = open_log();
    auto kept = LogFile::behind(log.get(), path, limits);
    write(log, "0123456789");
    std::filesystem::rename(path, path + ".moved");
    std::filesystem::create_directory(path);

    kept->rotate_when_full();
    write(log, "more");

    EXPECT_EQ(text_of(".moved"), "0123456789more");
}

}  // namespace
}  // namespace knell
