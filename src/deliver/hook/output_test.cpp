#include "deliver/hook/output.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "core/limits.hpp"

namespace knell {
namespace {

HookOutput printed(std::string_view text) {
    HookOutput output;
    output.append(text);
    return output;
}

TEST(HookOutput, TheLastLineIsTheLastThatSaysSomething) {
    EXPECT_EQ(printed("").last_line(), "");
    EXPECT_EQ(printed("\n \n").last_line(), "");
    EXPECT_EQ(printed("one").last_line(), "one");
    EXPECT_EQ(printed("one\ntwo\r\n\n  \n").last_line(), "two");
    EXPECT_EQ(printed("a\n\tindented\twords ").last_line(), "indented words");
}

TEST(HookOutput, ALineMayComeInPieces) {
    HookOutput output;
    for (const char* piece : {"first\nno su", "ch ho", "st\n"}) output.append(piece);
    EXPECT_EQ(output.last_line(), "no such host");
    EXPECT_EQ(output.text(), "first\nno such host\n");
}

TEST(HookOutput, KeepsTheBeginningAndStillKnowsTheEnd) {
    HookOutput output;
    for (int i = 0; i < 100'000; ++i) output.append("the same again\n");
    output.append("the disk is full\n");
    EXPECT_EQ(output.text().size(), limits::hook_output_bytes_max);
    EXPECT_TRUE(output.text().starts_with("the same again\n"));
    EXPECT_EQ(output.last_line(), "the disk is full");
}

TEST(HookOutput, KnowsTheEndOfWhatWasPrintedAllAtOnce) {
    const std::string much(5 * limits::hook_line_bytes_max, 'x');
    EXPECT_EQ(printed(much + "\nthe disk is full\n").last_line(), "the disk is full");
}

TEST(HookOutput, IsTextWhateverWasPrinted) {
    const auto output = printed(std::string_view("\x1b[31mred\x1b[0m \xff\xfe\0 \xe2\x82", 19));
    EXPECT_EQ(output.text(), "?[31mred?[0m ??? ??");
    EXPECT_TRUE(is_utf8(output.text()));
    EXPECT_FALSE(has_control_character(output.last_line()));
    EXPECT_EQ(printed("gr\xc3\xbc\xc3\x9f dich").last_line(), "gr\xc3\xbc\xc3\x9f dich");
}

TEST(HookOutput, ALongLineIsCutBetweenLetters) {
    std::string line;
    for (std::size_t i = 0; i < limits::hook_line_bytes_max; ++i) line += "\xe2\x82\xac";
    const auto quoted = printed("x\na" + line).last_line();
    EXPECT_LE(quoted.size(), limits::hook_line_bytes_max);
    EXPECT_GT(quoted.size(), limits::hook_line_bytes_max - 4);
    EXPECT_TRUE(is_utf8(quoted));
}

}  // namespace
}  // namespace knell
