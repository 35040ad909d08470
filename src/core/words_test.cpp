#include "core/words.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace knell {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    WordReader reader(text);
    for (Word word; reader.next(word);) words.emplace_back(word.folded);
    return words;
}

TEST(Words, AreLettersAndDigitsThatStandTogether) {
    EXPECT_THAT(words_of("No space left: /var/log, 100% (foo_bar)"),
                ElementsAre("no", "space", "left", "var", "log", "100", "foo", "bar"));
    EXPECT_THAT(words_of(""), IsEmpty());
    EXPECT_THAT(words_of(" -- … \t\n"), IsEmpty());
    EXPECT_THAT(words_of("a"), ElementsAre("a"));
}

TEST(Words, CaseAndAccentsDoNotCount) {
    EXPECT_THAT(words_of("Grüße ÀÉÎ Œuvre Łódź"), ElementsAre("grusse", "aei", "oeuvre", "lodz"));
    EXPECT_THAT(words_of("e\u0301te\u0301"), ElementsAre("ete")) << "written with accents apart";
    EXPECT_THAT(words_of("ΣΊΣΥΦΟΣ σίσυφος"), ElementsAre("σισυφοσ", "σισυφοσ"));
    EXPECT_THAT(words_of("Ещё ЁЖ Қазақ"), ElementsAre("еще", "еж", "қазақ"));
    EXPECT_THAT(words_of("ＫＮｅｌｌ１"), ElementsAre("knell1"));
}

TEST(Words, OfAScriptWithoutBlanksEachCharacterIsOne) {
    EXPECT_THAT(words_of("東京tower。ok"), ElementsAre("東", "京", "tower", "ok"));
    EXPECT_THAT(words_of("done✅!"), ElementsAre("done", "✅"));
    EXPECT_THAT(words_of("👍🏽"), ElementsAre("👍", "🏽"));
}

TEST(Words, SayWhereTheyStand) {
    WordReader reader("  Äpfel, ");
    Word word;
    ASSERT_TRUE(reader.next(word));
    EXPECT_EQ(word.begin, 2U);
    EXPECT_EQ(word.end, 8U);
    EXPECT_FALSE(reader.next(word));
}

TEST(Words, BytesThatAreNoTextSeparateThem) {
    EXPECT_THAT(words_of("a\xff"
                         "b\xc3(c\xe2\x82"),
                ElementsAre("a", "b", "c"));
    EXPECT_THAT(words_of(std::string_view("a\0b", 3)), ElementsAre("a", "b"));
    EXPECT_THAT(words_of("\xed\xa0\x80x"), ElementsAre("x")) << "a surrogate";
    EXPECT_THAT(words_of("\xc0\xaf/"), IsEmpty()) << "an overlong slash";
}

TEST(Words, OfAVeryLongOneOnlyTheBeginningCounts) {
    const auto words = words_of(std::string(1000, 'A') + " b");
    EXPECT_THAT(words, ElementsAre(std::string(WordReader::folded_bytes_max, 'a'), "b"));
}

RC_GTEST_PROP(Words, FoldedOnceIsFoldedForEver, ()) {
    std::string text;
    const auto points =
        *rc::gen::container<std::vector<char32_t>>(rc::gen::inRange<char32_t>(0x20, 0x3000));
    for (const auto point : points) {
        if (point < 0x80) {
            text += static_cast<char>(point);
        } else if (point < 0x800) {
            text += static_cast<char>(0xC0U | (point >> 6U));
            text += static_cast<char>(0x80U | (point & 0x3FU));
        } else {
            text += static_cast<char>(0xE0U | (point >> 12U));
            text += static_cast<char>(0x80U | ((point >> 6U) & 0x3FU));
            text += static_cast<char>(0x80U | (point & 0x3FU));
        }
    }
    for (const auto& word : words_of(text)) RC_ASSERT(words_of(word) == std::vector{word});
}

}  // namespace
}  // namespace knell
