#include "background/output_files.hpp"

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "testing/refused_calls.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t block = 4096;

class Outputs : public ::testing::Test {
  protected:
    static void write_to(const Fd& file, std::string_view text) {
        ASSERT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    /// Numbered lines of 16 bytes: each byte tells where it is.
    static std::string lines(std::int64_t from, std::int64_t to) {
        std::string text;
        for (auto at = from; at < to; at += 16) text += fmt::format("{:15}\n", at);
        return text;
    }
    OutputSlice must_read(std::optional<std::int64_t> after, std::size_t limit = 1 << 20) {
        auto read = files->read(id, after, limit);
        if (!read) throw std::runtime_error(read.error().message);
        return *read;
    }
    std::int64_t bytes_on_disk() {
        struct stat found{};
        EXPECT_EQ(::stat(path().c_str(), &found), 0);
        return found.st_blocks * 512;
    }
    std::string path() const { return files->folder() + "/" + id.text() + ".out"; }
    std::unique_ptr<OutputFiles> open_again() { return *OutputFiles::open(home.path() + "/out"); }

    testing::TempFolder home;
    std::unique_ptr<OutputFiles> files = open_again();
    const ProcessId id = ProcessId::from_bits(7);
};

TEST_F(Outputs, AreReadByTheirPlace) {
    const auto file = files->create(id);
    ASSERT_TRUE(file);
    EXPECT_EQ(must_read(0).bytes, "");
    write_to(*file, std::string("one\0two\xff", 8));
    const auto all = must_read(0);
    EXPECT_EQ(all.bytes, std::string("one\0two\xff", 8));
    EXPECT_EQ(all.next, 8);
    EXPECT_FALSE(all.gap);
    EXPECT_FALSE(all.more);
    const auto part = must_read(2, 3);
    EXPECT_EQ(part.bytes, std::string("e\0t", 3));
    EXPECT_EQ(part.next, 5);
    EXPECT_TRUE(part.more);
    const auto last = must_read(std::nullopt, 2);
    EXPECT_EQ(last.after, 6);
    EXPECT_EQ(last.bytes, "o\xff");
    const auto beyond = must_read(100);
    EXPECT_EQ(beyond.bytes, "");
    EXPECT_EQ(beyond.after, 8);
}

TEST_F(Outputs, AreOnlyOurs) {
    ASSERT_TRUE(files->create(id));
    struct stat found{};
    ASSERT_EQ(::stat(path().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600U);
    ASSERT_EQ(::stat(files->folder().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0700U);
    ASSERT_EQ(::chmod(files->folder().c_str(), 0777), 0);
    files = open_again();
    ASSERT_EQ(::stat(files->folder().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0700U);
}

TEST_F(Outputs, AFolderThatCannotBeMadeIsNamed) {
    const auto none = OutputFiles::open("/proc/nothing/here");
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().message, HasSubstr("/proc/nothing"));
}

TEST_F(Outputs, NothingThatIsThereIsWrittenOrFollowed) {
    const auto victim = home.path() + "/victim";
    {
        const Fd file{::open(victim.c_str(), O_CREAT | O_WRONLY, 0600)};
    }
    ASSERT_EQ(::symlink(victim.c_str(), path().c_str()), 0);
    const auto made = files->create(id);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::blocked);
    EXPECT_THAT(made.error().message, HasSubstr(path() + " is there already"));
    EXPECT_EQ(files->read(id, 0, 10).error().code, ErrorCode::not_found);
    EXPECT_FALSE(files->trim(id, 1));
    EXPECT_FALSE(files->is_written(id));
    ASSERT_EQ(::unlink(path().c_str()), 0);
    ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
    EXPECT_EQ(files->read(id, 0, 10).error().code, ErrorCode::not_found) << "and does not hang";
    EXPECT_FALSE(files->trim(id, 1));
}

TEST_F(Outputs, WhatTheSystemIsShortOfIsALimit) {
    ASSERT_TRUE(files->create(id));
    testing::with_refused_calls({SYS_openat}, EMFILE, [&] {
        EXPECT_EQ(files->create(ProcessId::from_bits(8)).error().code, ErrorCode::limit);
        EXPECT_EQ(files->read(id, 0, 10).error().code, ErrorCode::limit);
        EXPECT_FALSE(files->trim(id, 1));
        EXPECT_THAT(files->list(), ElementsAre());
    });
    testing::with_refused_calls({SYS_openat}, ENOSPC, [&] {
        EXPECT_EQ(files->create(ProcessId::from_bits(8)).error().code, ErrorCode::storage);
    });
    const auto file = Fd{::open(path().c_str(), O_WRONLY | O_APPEND)};
    write_to(file, "x");
    testing::with_refused_calls({SYS_pread64}, EIO, [&] {
        EXPECT_EQ(files->read(id, 0, 10).error().code, ErrorCode::storage);
    });
}

TEST_F(Outputs, ALongOneLosesItsBeginningAndItsPlacesStay) {
    const auto file = files->create(id);
    ASSERT_TRUE(file);
    write_to(*file, lines(0, 5 * block));
    EXPECT_EQ(files->trim(id, 4 * block)->begin, 0) << "a quarter more is still kept";
    write_to(*file, lines(5 * block, 40 * block));
    const auto size = files->trim(id, 4 * block);
    ASSERT_TRUE(size);
    EXPECT_EQ(size->end, 40 * block);
    EXPECT_EQ(size->begin, 36 * block);
    EXPECT_LE(bytes_on_disk(), 6 * block);
    write_to(*file, lines(40 * block, 41 * block));
    const auto all = must_read(0);
    EXPECT_EQ(all.gap, std::pair(std::int64_t{0}, 36 * block - 1));
    EXPECT_EQ(all.after, 36 * block);
    EXPECT_EQ(all.bytes, lines(36 * block, 41 * block));
    const auto rest = must_read(37 * block);
    EXPECT_FALSE(rest.gap);
    EXPECT_EQ(rest.bytes, lines(37 * block, 41 * block));
    EXPECT_EQ(must_read(std::nullopt, 100 * block).after, 36 * block);
}

TEST_F(Outputs, TheNextDaemonFindsWhereOneBegins) {
    const auto file = files->create(id);
    ASSERT_TRUE(file);
    write_to(*file, lines(0, 64 * block));
    ASSERT_TRUE(files->trim(id, 8 * block));
    files = open_again();
    EXPECT_THAT(files->list(), ElementsAre(id));
    EXPECT_EQ(must_read(0).bytes, lines(56 * block, 64 * block));
    EXPECT_EQ(must_read(0).after, 56 * block);
    write_to(*file, lines(64 * block, 128 * block));
    EXPECT_EQ(files->trim(id, 8 * block)->begin, 120 * block);
    EXPECT_EQ(must_read(0).bytes, lines(120 * block, 128 * block));
}

TEST_F(Outputs, WhereNoHoleCanBePunchedAllThatWasWrittenGoes) {
    const auto file = files->create(id);
    ASSERT_TRUE(file);
    write_to(*file, lines(0, 20 * block));
    testing::with_refused_calls({SYS_fallocate}, EOPNOTSUPP, [&] {
        EXPECT_EQ(files->trim(id, 4 * block)->begin, 0) << "found out";
        EXPECT_EQ(must_read(0).bytes, lines(0, 20 * block));
        EXPECT_EQ(files->trim(id, 4 * block)->begin, 20 * block);
    });
    EXPECT_LE(bytes_on_disk(), block);
    write_to(*file, "more\n");
    EXPECT_EQ(must_read(0).after, 20 * block);
    EXPECT_EQ(must_read(0).bytes, "more\n");
    files = open_again();
    EXPECT_EQ(must_read(20 * block).bytes, "more\n");
}

TEST_F(Outputs, OneThatIsNothingButAHoleHasNoBytes) {
    const auto file = files->create(id);
    ASSERT_TRUE(file);
    ASSERT_EQ(::ftruncate(file->get(), 3 * block), 0);
    const auto read = must_read(0);
    EXPECT_EQ(read.bytes, "");
    EXPECT_EQ(read.next, 3 * block);
}

TEST_F(Outputs, WhoeverCanStillWriteIsSeen) {
    auto file = files->create(id);
    ASSERT_TRUE(file);
    EXPECT_TRUE(files->is_written(id));
    file->reset();
    EXPECT_FALSE(files->is_written(id));
    const Fd reader{::open(path().c_str(), O_RDONLY)};
    EXPECT_FALSE(files->is_written(id)) << "who only reads does not count";
    EXPECT_FALSE(files->is_written(ProcessId::from_bits(9)));
}

TEST_F(Outputs, AreListedAndRemovedByTheirIds) {
    ASSERT_TRUE(files->create(id));
    for (const char* name : {"p-x.out", "notes.txt", ".out"}) {
        const Fd other{::open((files->folder() + "/" + name).c_str(), O_CREAT | O_WRONLY, 0600)};
    }
    EXPECT_THAT(files->list(), ElementsAre(id));
    files->remove(id);
    EXPECT_THAT(files->list(), ElementsAre());
    EXPECT_EQ(files->read(id, 0, 10).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace knell
