#include "summarize/output.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "core/limits.hpp"

namespace knell {
namespace {

std::string why_not(std::string_view output, std::int64_t content_bytes = 1 << 30) {
    const auto judged = judge_output(output, content_bytes);
    return judged ? "it is one" : judged.error();
}

std::string tail_of(std::string_view printed) {
    ErrorTail tail;
    tail.append(printed);
    return tail.last_lines();
}

TEST(JudgeOutput, TakesTheTextWithoutTheBlanksAroundIt) {
    EXPECT_EQ(judge_output("\n They asked why.\nIt was so. \r\n", 1000),
              "They asked why.\nIt was so.");
    EXPECT_EQ(judge_output("für 世界", 1000), "für 世界");
}

TEST(JudgeOutput, WhiteSpaceIsNoSummary) {
    for (const auto* blank : {"", "\n", " \t\r\n ", "\u200b\u200b", "\u00a0\ufeff\n"}) {
        EXPECT_EQ(why_not(blank), "printed nothing");
    }
}

TEST(JudgeOutput, WhatIsNotUtf8IsNoSummary) {
    for (const auto* bad : {"\xff", "cut \xe2\x82", "\xc0\xaf"}) {
        EXPECT_EQ(why_not(bad), "printed something that is not UTF-8");
    }
}

TEST(JudgeOutput, HasABound) {
    const std::string longest(limits::summary_bytes_max, 'x');
    EXPECT_EQ(judge_output(longest, 1 << 30), longest);
    EXPECT_EQ(why_not(longest + 'x'), "printed more than 1024 KiB");
}

TEST(JudgeOutput, MustBeShorterThanWhatItReplaces) {
    EXPECT_EQ(judge_output("1234\n", 5), "1234");
    EXPECT_EQ(why_not("12345", 5),
              "its summary of 5 bytes is not shorter than the 5 bytes that it would replace");
    EXPECT_NE(why_not("1", 0), "it is one");
}

TEST(ErrorTail, TellsTheLastLinesThatSaySomething) {
    EXPECT_EQ(tail_of(""), "");
    EXPECT_EQ(tail_of(" \n\n"), "");
    EXPECT_EQ(tail_of("one"), "one");
    EXPECT_EQ(tail_of("one\n\n two\n"), "one; two");
    EXPECT_EQ(tail_of("one\ntwo\nthree\nfour\n"), "two; three; four");
    EXPECT_EQ(tail_of("\x1b[31mred\xff\n"), "?[31mred?");
}

TEST(ErrorTail, CostsTheSameHoweverMuchIsPrinted) {
    ErrorTail tail;
    for (int i = 0; i < 1000; ++i) tail.append("the same again, and nobody needs it\n");
    tail.append("no key");
    tail.append(" was found\n");
    EXPECT_EQ(
        tail.last_lines(),
        "the same again, and nobody needs it; the same again, and nobody needs it; no key was "
        "found");
    EXPECT_EQ(tail_of(std::string(1 << 20, 'x') + "\nno key\n"), "no key");
}

TEST(ErrorTail, ALongLineIsCutBetweenLettersAndStandsAlone) {
    std::string euros;
    for (std::size_t i = 0; i < limits::summary_stderr_bytes_max; ++i) euros += "\xe2\x82\xac";
    const auto cut = tail_of("before\nx" + euros);
    EXPECT_LE(cut.size(), limits::summary_stderr_bytes_max);
    EXPECT_GT(cut.size(), limits::summary_stderr_bytes_max - 4);
    EXPECT_TRUE(is_utf8(cut));
    const std::string nearly(limits::summary_stderr_bytes_max - 3, 'x');
    EXPECT_EQ(tail_of("a\n" + nearly), "a; " + nearly);
    EXPECT_EQ(tail_of("ab\n" + nearly), nearly);
}

}  // namespace
}  // namespace knell
