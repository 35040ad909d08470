#include "cli/text_width.hpp"

#include <gtest/gtest.h>

namespace knell::cli {
namespace {

TEST(OneLine, KeepsWhatIsPlain) {
    EXPECT_EQ(one_line("naïve 日本 👋"), "naïve 日本 👋");
}

TEST(OneLine, CannotBreakATableOrATerminal) {
    EXPECT_EQ(one_line("a\nb\tc"), "a b c");
    EXPECT_EQ(one_line("\x1b[31mred\x07"), "?[31mred?");
    EXPECT_EQ(one_line("\xc2\x9b"), "?");  // the one-character CSI
    EXPECT_EQ(one_line("a\xe2\x80\xae"
                       "b"),
              "a?b");  // right-to-left override
    EXPECT_EQ(one_line("bad \xff\xfe bytes"), "bad ?? bytes");
    EXPECT_EQ(one_line(std::string_view("a\0b", 3)), "a?b");
}

TEST(ManyLines, KeepsLineBreaksOnly) {
    EXPECT_EQ(many_lines("a\nb\x1b"), "a\nb?");
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
    EXPECT_EQ(display_width("abc"), 3U);
    EXPECT_EQ(display_width("naïve"), 5U);
    EXPECT_EQ(display_width("日本"), 4U);
    EXPECT_EQ(display_width("e\xcc\x81"), 1U);  // a combining accent
}

TEST(Fit, CutsWithAnEllipsis) {
    EXPECT_EQ(fit("abcdef", 6), "abcdef");
    EXPECT_EQ(fit("abcdef", 4), "abc…");
    EXPECT_EQ(fit("abcdef", 0), "");
}

TEST(Fit, DoesNotCutAWideCharacterInHalf) {
    EXPECT_EQ(fit("日本語", 4), "日…");
    EXPECT_EQ(fit("日本語", 5), "日本…");
}

TEST(Wrap, BreaksBetweenWords) {
    EXPECT_EQ(wrap("one two three", {.width = 7}), "one two\nthree");
    EXPECT_EQ(wrap("one two three", {.width = 8, .indent = 2, .before = 4}), "one\n  two\n  three");
    EXPECT_EQ(wrap("日本 日本 x", {.width = 6}), "日本\n日本 x");
}

TEST(Wrap, LeavesALongWordWholeAndAFileAlone) {
    EXPECT_EQ(wrap("a /a/very/long/path b", {.width = 6}), "a\n/a/very/long/path\nb");
    EXPECT_EQ(wrap("as  it   is", {}), "as  it   is");
    EXPECT_EQ(wrap("", {.width = 5}), "");
}

TEST(FitEnd, KeepsTheEnd) {
    EXPECT_EQ(fit_end("/home/me/proj", 20), "/home/me/proj");
    EXPECT_EQ(fit_end("/home/me/proj", 6), "…/proj");
    EXPECT_EQ(fit_end("日本語", 5), "…本語");
    EXPECT_EQ(fit_end("日本語", 4), "…語");
    EXPECT_EQ(fit_end("abc", 0), "");
}

}  // namespace
}  // namespace knell::cli
