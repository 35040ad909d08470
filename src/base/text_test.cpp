#include "base/text.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/uuid.hpp"

namespace knell {
namespace {

TEST(Utf8, TakesOnlyWellFormedText) {
    EXPECT_TRUE(is_utf8("Grüße, 世界 🎉"));
    EXPECT_TRUE(is_utf8(std::string_view("\0", 1)));
    for (const auto* bad : {"\xff", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                            "\xe2\x82", "\x80", "a\xc3"}) {
        EXPECT_FALSE(is_utf8(bad)) << testing::PrintToString(std::string(bad));
    }
}

TEST(ControlCharacters, AreFoundAnywhere) {
    EXPECT_FALSE(has_control_character("a b ü"));
    EXPECT_TRUE(has_control_character("a\nb"));
    EXPECT_TRUE(has_control_character(std::string_view("a\0", 2)));
    EXPECT_TRUE(has_control_character("\x7f"));
}

TEST(TakeField, TakesThemOffOneByOne) {
    std::string_view line = "12\t\tx";
    EXPECT_EQ(number_in<int>(take_field(line, '\t')), 12);
    EXPECT_EQ(take_field(line, '\t'), "");
    EXPECT_EQ(take_field(line, '\t'), "x");
    EXPECT_EQ(take_field(line, '\t'), "");
    EXPECT_EQ(number_in<int>("x12"), 0);
    EXPECT_EQ(number_in<int>("12x"), 12);
}

TEST(PrintableText, IsTextWhateverItWas) {
    EXPECT_EQ(printable_text(std::string_view("\x1b[1m \xff\0 \xe2\x82\n\tü", 14)),
              "?[1m ?? ??\n\tü");
    EXPECT_EQ(printable_line(" \n one\ttwo\r\nthree\n "), "one two? three");
    EXPECT_EQ(printable_line(" \n"), "");
}

TEST(CutText, DoesNotCutALetterInTwo) {
    EXPECT_EQ(cut_text("für", 4), "für");
    EXPECT_EQ(cut_text("für", 3), "fü");
    EXPECT_EQ(cut_text("für", 2), "f");
    EXPECT_EQ(cut_text("für", 0), "");
}

TEST(Escaped, BytesComeBackAsTheyWere) {
    const std::string odd("\\t\t\\\n\0\xffn", 8);
    std::string line = "a";
    append_escaped(line, odd);

    EXPECT_EQ(line, "a\\\\t\\t\\\\\\n\\0\xffn");
    EXPECT_EQ(unescaped(std::string_view(line).substr(1)), odd);
    EXPECT_EQ(unescaped("end\\"), "end\\") << "only another program writes that";
}

TEST(Uuid7, SortsByTimeAndSaysItsVersion) {
    const auto early = make_uuid7(from_millis(1000), {~0ULL, ~0ULL});
    const auto late = make_uuid7(from_millis(1001), {0, 0});

    EXPECT_LT(early, late);
    EXPECT_EQ(late, "00000000-03e9-7000-8000-000000000000");
    EXPECT_EQ(early[14], '7');
    EXPECT_EQ(early[19], 'b');
}

}  // namespace
}  // namespace knell
