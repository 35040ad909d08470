#include "background/output_files.hpp"

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "testing/refused_calls.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t block = 4096;
/// What a file begins with: its first byte of output is behind that.
constexpr std::int64_t mark = 16;

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
    EXPECT_EQ(beyond.next, 8) << "where it really ends";
    EXPECT_FALSE(beyond.gap);
}

TEST_F(Outputs, AreOnlyOurs) {
    ASSERT_TRUE(files->create(id));
    struct stat found{};
    ASSERT_EQ(::stat(path().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600U);
    ASSERT_EQ(::stat(files->folder().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0700U);
    ASSERT_EQ(::chmod(files->folder().c_str(), 0755), 0);
    files = open_again();
    ASSERT_EQ(::stat(files->folder().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0700U);
}

TEST_F(Outputs, AFolderThatMayBeSomebodyElsesIsRefusedAndLeftAsItIs) {
    const auto folder = home.path() + "/processes";
    const auto refusal = [&folder] {
        const auto opened = OutputFiles::open(folder);
        if (opened) throw std::runtime_error("it was taken");
        EXPECT_EQ(opened.error().code, ErrorCode::unauthorized);
        return opened.error().message;
    };
    const auto mode_of = [](const std::string& path) {
        struct stat found{};
        EXPECT_EQ(::stat(path.c_str(), &found), 0);
        return found.st_mode & 07777U;
    };

    const auto elsewhere = home.path() + "/elsewhere";
    ASSERT_EQ(::mkdir(elsewhere.c_str(), 0755), 0);
    ASSERT_EQ(::chmod(elsewhere.c_str(), 0755), 0);
    ASSERT_EQ(::symlink(elsewhere.c_str(), folder.c_str()), 0);
    EXPECT_THAT(refusal(), HasSubstr(folder + " is a symbolic link"));
    EXPECT_EQ(mode_of(elsewhere), 0755U) << "where it leads is nobody's business";

    ASSERT_EQ(::unlink(folder.c_str()), 0);
    ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
    for (const mode_t mode : {0770U, 0702U}) {
        ASSERT_EQ(::chmod(folder.c_str(), mode), 0);
        EXPECT_THAT(refusal(), HasSubstr(fmt::format("mode {:04o}", mode)));
        EXPECT_EQ(mode_of(folder), mode);
    }

    ASSERT_EQ(::rmdir(folder.c_str()), 0);
    ASSERT_EQ(::mkfifo(folder.c_str(), 0600), 0);
    EXPECT_THAT(refusal(), HasSubstr("is not a directory"));

    if (::geteuid() != 0) return;  // only root can give it away
    ASSERT_EQ(::unlink(folder.c_str()), 0);
    ASSERT_EQ(::mkdir(folder.c_str(), 0755), 0);
    ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
    ASSERT_EQ(::chown(folder.c_str(), 65534, 65534), 0);
    EXPECT_THAT(refusal(), HasSubstr("belongs to another user (uid 65534)"));
    EXPECT_EQ(mode_of(folder), 0755U);
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
    const auto begin = 36 * block - mark;
    EXPECT_EQ(size->begin, begin) << "whole blocks of the file";
    EXPECT_LE(bytes_on_disk(), 6 * block);
    write_to(*file, lines(40 * block, 41 * block));
    const auto all = must_read(0);
    EXPECT_EQ(all.gap, std::pair(std::int64_t{0}, begin - 1));
    EXPECT_EQ(all.after, begin);
    EXPECT_EQ(all.bytes, lines(begin, 41 * block));
    const auto rest = must_read(37 * block);
    EXPECT_FALSE(rest.gap);
    EXPECT_EQ(rest.bytes, lines(37 * block, 41 * block));
    EXPECT_EQ(must_read(std::nullopt, 100 * block).after, begin);
}

TEST_F(Outputs, TheNextDaemonFindsWhereOneBegins) {
    const auto file = files->create(id);
    ASSERT_TRUE(file);
    write_to(*file, lines(0, 64 * block));
    ASSERT_TRUE(files->trim(id, 8 * block));
    files = open_again();
    EXPECT_THAT(files->list(), ElementsAre(id));
    EXPECT_EQ(must_read(0).bytes, lines(56 * block - mark, 64 * block));
    EXPECT_EQ(must_read(0).after, 56 * block - mark);
    write_to(*file, lines(64 * block, 128 * block));
    EXPECT_EQ(files->trim(id, 8 * block)->begin, 120 * block - mark);
    EXPECT_EQ(must_read(0).bytes, lines(120 * block - mark, 128 * block));
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
    ASSERT_EQ(::ftruncate(file->get(), 0), 0);
    ASSERT_EQ(::ftruncate(file->get(), 3 * block + mark), 0);
    const auto read = must_read(0);
    EXPECT_EQ(read.bytes, "");
    EXPECT_EQ(read.next, 3 * block);
}

TEST_F(Outputs, OneThatItsProcessEmptiesTellsAGap) {
    const auto file = files->create(id);
    ASSERT_TRUE(file);
    write_to(*file, "lost and gone\n");
    EXPECT_EQ(must_read(0).next, 14);
    ASSERT_EQ(::ftruncate(file->get(), 0), 0);
    const auto empty = must_read(3);
    EXPECT_EQ(empty.gap, std::pair(std::int64_t{3}, std::int64_t{14}));
    EXPECT_EQ(empty.next, 15);
    write_to(*file, "new\n");
    const auto on = must_read(14);
    EXPECT_EQ(on.gap, std::pair(std::int64_t{14}, std::int64_t{14})) << "more may have gone";
    EXPECT_EQ(on.bytes, "new\n");
    EXPECT_EQ(on.next, 19);
    EXPECT_EQ(files->trim(id, block)->end, 19) << "places go on";
    EXPECT_EQ(must_read(std::nullopt).bytes, "new\n");

    ASSERT_EQ(::ftruncate(file->get(), 0), 0);
    ASSERT_TRUE(files->trim(id, block)) << "looked at while it is shorter";
    write_to(*file, "longer than before\n");
    EXPECT_EQ(must_read(19).gap, std::pair(std::int64_t{19}, std::int64_t{19}));
    EXPECT_EQ(must_read(19).bytes, "longer than before\n");
    EXPECT_FALSE(must_read(20).gap);
}

TEST_F(Outputs, OneThatItsProcessShortensNeverShowsTheMark) {
    const auto file = files->create(id);
    ASSERT_TRUE(file);
    write_to(*file, "kept, lost and gone\n");
    const auto end = must_read(0).next;
    ASSERT_EQ(::ftruncate(file->get(), mark + 4), 0);
    const auto shortened = must_read(end);
    EXPECT_EQ(shortened.bytes, "kept");
    EXPECT_TRUE(shortened.gap);
    write_to(*file, ", new\n");
    EXPECT_EQ(must_read(0).bytes, "kept, new\n");
    const auto on = must_read(shortened.next);
    EXPECT_EQ(on.bytes, ", new\n");
    EXPECT_FALSE(on.gap);
    files = open_again();
    EXPECT_EQ(must_read(0).bytes, "kept, new\n");
    ASSERT_EQ(::ftruncate(file->get(), mark), 0);
    EXPECT_EQ(must_read(0).bytes, "");
}

TEST_F(Outputs, OneThatIsEmptiedBeforeAnybodyLooksTellsAGapToo) {
    const auto file = files->create(id);
    ASSERT_TRUE(file);
    write_to(*file, "lost\n");
    // As `echo … > /dev/stderr` does.
    const Fd again{::open(path().c_str(), O_WRONLY | O_TRUNC)};
    write_to(again, "longer than what was there\n");
    const auto all = must_read(0);
    EXPECT_TRUE(all.gap);
    EXPECT_EQ(all.bytes, "longer than what was there\n");
}

TEST_F(Outputs, TheNextDaemonKnowsThatOneWasEmptied) {
    const auto file = files->create(id);
    ASSERT_TRUE(file);
    write_to(*file, lines(0, block));
    EXPECT_EQ(must_read(0).next, block);
    ASSERT_EQ(::ftruncate(file->get(), 0), 0);
    write_to(*file, "new\n");
    const auto seen = must_read(0);
    files = open_again();
    const auto again = must_read(0);
    EXPECT_TRUE(again.gap);
    EXPECT_EQ(again.bytes, "new\n");
    if (::setxattr(path().c_str(), "user.knell.test", "", 0, 0) != 0) return;
    EXPECT_EQ(again.gap, seen.gap);
    EXPECT_EQ(again.next, seen.next);
    // Nothing that we would have written.
    for (const std::string_view text : {"", "x", "-5", "9223372036854775807"}) {
        ASSERT_EQ(::setxattr(path().c_str(), "user.knell.base", text.data(), text.size(), 0), 0);
        files = open_again();
        EXPECT_EQ(must_read(0).after, 1) << text;
    }
}

TEST_F(Outputs, OneThatIsEmptiedIsKeptSmallAsOthersAre) {
    const auto file = files->create(id);
    ASSERT_TRUE(file);
    write_to(*file, lines(0, 40 * block));
    ASSERT_TRUE(files->trim(id, 4 * block));
    ASSERT_EQ(::ftruncate(file->get(), 0), 0);
    EXPECT_EQ(files->trim(id, 4 * block)->begin, 40 * block + 1);
    write_to(*file, lines(0, 40 * block));
    EXPECT_EQ(files->trim(id, 4 * block)->begin, 40 * block + 1 + 36 * block);
    EXPECT_LE(bytes_on_disk(), 6 * block);
    EXPECT_EQ(must_read(0).bytes, lines(36 * block, 40 * block));
}

TEST_F(Outputs, AMarkThatCannotBeWrittenLeavesNothing) {
    testing::with_refused_calls({SYS_pwrite64}, ENOSPC, [&] {
        EXPECT_EQ(files->create(id).error().code, ErrorCode::storage);
    });
    EXPECT_THAT(files->list(), ElementsAre());
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
