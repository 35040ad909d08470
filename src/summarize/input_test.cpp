#include "summarize/input.hpp"

#include <cerrno>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "testing/refused_calls.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

using testing::with_refused_calls;

std::string text_of(const Fd& file) {
    std::string text(1000, '\0');
    text.resize(static_cast<std::size_t>(::pread(file.get(), text.data(), text.size(), 0)));
    return text;
}

TEST(SummaryInput, HoldsAMessageALine) {
    const testing::TempFolder folder;
    auto input = SummaryInput::create(folder.path()).value();
    EXPECT_TRUE(input.add_line(R"({"content":"a"})", 1));
    EXPECT_TRUE(input.add_line(R"({"content":"bc"})", 2));
    const auto written = input.finish().value();
    EXPECT_EQ(text_of(written.file), "{\"content\":\"a\"}\n{\"content\":\"bc\"}\n");
    EXPECT_EQ(written.input_bytes, 33);
    EXPECT_EQ(written.content_bytes, 3);
    struct stat found{};
    ASSERT_EQ(::fstat(written.file.get(), &found), 0);
    EXPECT_EQ(found.st_nlink, 0U) << "it goes with its descriptor";
    EXPECT_EQ(found.st_mode & 0777U, 0600U);
}

TEST(SummaryInput, HoldsMoreThanItKeepsInMemory) {
    const testing::TempFolder folder;
    auto input = SummaryInput::create(folder.path()).value();
    const std::string line(100'000, 'x');
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(input.add_line(line, line.size()));
    const auto written = input.finish().value();
    struct stat found{};
    ASSERT_EQ(::fstat(written.file.get(), &found), 0);
    EXPECT_EQ(found.st_size, 1'000'010);
    EXPECT_EQ(written.input_bytes, found.st_size);
    EXPECT_EQ(written.content_bytes, 1'000'000);
}

TEST(SummaryInput, IsInMemoryWhereADirectoryHoldsNoFilesWithoutNames) {
    auto input = SummaryInput::create("/proc").value();
    EXPECT_TRUE(input.add_line("{}", 0));
    EXPECT_EQ(text_of(input.finish().value().file), "{}\n");
}

TEST(SummaryInput, HasABound) {
    const testing::TempFolder folder;
    auto input = SummaryInput::create(folder.path(), /*bytes_max=*/10).value();
    EXPECT_TRUE(input.add_line("12345", 0));
    const auto more = input.add_line("6789", 0);
    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().code, ErrorCode::limit);
    EXPECT_EQ(more.error().message, "the messages to summarize have more than 10 bytes");
    EXPECT_TRUE(input.add_line("678", 0));
    EXPECT_EQ(text_of(input.finish().value().file), "12345\n678\n");
}

TEST(SummaryInput, WhatIsRefusedIsNamed) {
    const auto nowhere = SummaryInput::create("/there/is/none");
    ASSERT_FALSE(nowhere);
    EXPECT_EQ(nowhere.error().code, ErrorCode::storage);
    EXPECT_EQ(nowhere.error().message,
              "cannot hold the messages to summarize: No such file or directory");
    with_refused_calls({SYS_openat}, EMFILE, [] {
        const auto input = SummaryInput::create("/");
        ASSERT_FALSE(input);
        EXPECT_EQ(input.error().code, ErrorCode::limit);
    });
    with_refused_calls({SYS_memfd_create}, ENFILE, [] {
        const auto input = SummaryInput::create("/proc");
        ASSERT_FALSE(input);
        EXPECT_EQ(input.error().code, ErrorCode::limit);
    });
}

#ifndef KNELL_NEEDS_DESCRIPTORS
TEST(SummaryInput, AFullDiskIsToldAtTheLatestAtTheEnd) {
    const testing::TempFolder folder;
    with_refused_calls({SYS_write}, ENOSPC, [&] {
        auto input = SummaryInput::create(folder.path()).value();
        EXPECT_TRUE(input.add_line("{}", 0)) << "kept until there is more";
        const auto much = input.add_line(std::string(1U << 20U, 'x'), 0);
        ASSERT_FALSE(much);
        EXPECT_EQ(much.error().code, ErrorCode::storage);
        EXPECT_EQ(much.error().message,
                  "cannot hold the messages to summarize: No space left on device");
        EXPECT_FALSE(input.finish());
    });
}
#endif

}  // namespace
}  // namespace knell
