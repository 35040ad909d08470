// Opening one spool file on a disk that fails.

#include "daemon/spool_file.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "core/limits.hpp"
#include "testing/faulty_files.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

namespace fs = std::filesystem;

constexpr auto line = "one line of a run\n";

class SpoolFileOpening : public ::testing::Test {
  protected:
    SpoolFileOpening() { write(line); }
    void write(const std::string& text) { std::ofstream(path_) << text; }
    Result<std::optional<SpoolFile>> open() { return open_spool_file(path_, files_.calls()); }

    const testing::TempFolder temp_;
    const std::string path_ = temp_.path() + "/s.jsonl";
    testing::FaultyFiles files_;
};

TEST_F(SpoolFileOpening, EveryFailureIsForLaterOrForGood) {
    struct Fault {
        std::string_view call;
        int nth;
        int error;
        bool passes;
    };
    const std::vector<Fault> faults{
        {"open", 1, ENOENT, true},  {"open", 1, EMFILE, true}, {"open", 1, ENFILE, true},
        {"open", 1, ENOMEM, true},  {"open", 1, EINTR, true},  {"open", 1, EIO, true},
        {"open", 1, EACCES, false}, {"fstat", 1, EIO, true},   {"fstat", 1, EOVERFLOW, false},
        {"open", 2, ENOENT, true},  {"open", 2, EMFILE, true}, {"open", 2, ENFILE, true},
        {"open", 2, ENOMEM, true},  {"open", 2, EIO, true},    {"open", 2, EACCES, false},
        {"flock", 1, EAGAIN, true}, {"flock", 1, EINTR, true}, {"flock", 1, ENOLCK, true},
        {"fstat", 2, EIO, true},    {"read", 1, EIO, true},    {"read", 1, ENOMEM, true},
        {"read", 1, EISDIR, false}, {"read", 2, EIO, true},
    };
    for (const auto& [call, nth, error, passes] : faults) {
        files_ = {};
        files_.fail(call, error, nth);
        const auto about =
            fmt::format("{} {}: {}", call, nth, std::generic_category().message(error));
        const auto opened = open();
        EXPECT_EQ(opened.has_value(), passes) << about;
        if (opened) {
            EXPECT_FALSE(*opened) << about;
        }
        if (!opened) {
            EXPECT_EQ(opened.error().message, std::generic_category().message(error));
        }
    }
}

TEST_F(SpoolFileOpening, AnInterruptedReadGoesOn) {
    files_.fail("read", EINTR);
    files_.bytes_at_once(7);
    const auto opened = open();
    ASSERT_TRUE(opened && *opened);
    EXPECT_EQ((*opened)->text, line);
}

TEST_F(SpoolFileOpening, OneThatIsWrittenToIsForLater) {
    const Fd writer{::open(path_.c_str(), O_RDWR | O_CLOEXEC)};
    ASSERT_EQ(::flock(writer.get(), LOCK_EX | LOCK_NB), 0);
    const auto opened = open();
    ASSERT_TRUE(opened);
    EXPECT_FALSE(*opened);
}

TEST_F(SpoolFileOpening, WhatIsOpenIsLocked) {
    const auto opened = open();
    ASSERT_TRUE(opened && *opened);
    const Fd writer{::open(path_.c_str(), O_RDWR | O_CLOEXEC)};
    EXPECT_EQ(::flock(writer.get(), LOCK_EX | LOCK_NB), -1);
}

TEST_F(SpoolFileOpening, OneThatIsDeletedBeforeItIsLockedIsGone) {
    files_.before("flock", [&] { fs::remove(path_); });
    const auto opened = open();
    ASSERT_TRUE(opened);
    EXPECT_FALSE(*opened);
}

TEST_F(SpoolFileOpening, OnlyARegularFileIsOpened) {
    fs::remove(path_);
    ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    EXPECT_EQ(open().error().message, "it is not a regular file");
    fs::remove(path_);
    const auto elsewhere = temp_.path() + "/elsewhere";
    std::ofstream(elsewhere) << line;
    fs::create_symlink(elsewhere, path_);
    EXPECT_EQ(open().error().message, "it is not a regular file");
    EXPECT_EQ(files_.count("open"), 2) << "looked at, not opened";
}

TEST_F(SpoolFileOpening, AFileMayBeAsLargeAsItsBoundAndNoLarger) {
    write(std::string(limits::spool_file_bytes_max, '\n'));
    ASSERT_TRUE(open());
    EXPECT_EQ((**open()).text.size(), limits::spool_file_bytes_max);
    write(std::string(limits::spool_file_bytes_max + 1, '\n'));
    EXPECT_FALSE(open());
}

}  // namespace
}  // namespace knell
