#include "config/split_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SplitWords, AtBlanks) {
    EXPECT_THAT(*split_words("  run.sh  --to\tops "), ElementsAre("run.sh", "--to", "ops"));
    EXPECT_THAT(*split_words(" \t "), IsEmpty());
}

TEST(SplitWords, QuotesKeepAWordTogether) {
    EXPECT_THAT(*split_words(R"(a 'b c' "d e"f '')"), ElementsAre("a", "b c", "d ef", ""));
    EXPECT_THAT(*split_words(R"("it's" 'say "hi"')"), ElementsAre("it's", "say \"hi\""));
}

TEST(SplitWords, ABackslashMeansWhatItMeansToAShell) {
    EXPECT_THAT(*split_words(R"(a\ b \"c \\)"), ElementsAre("a b", "\"c", "\\"));
    EXPECT_THAT(*split_words(R"("a\"b\\c\n")"), ElementsAre(R"(a"b\c\n)"));
    EXPECT_THAT(*split_words(R"('a\n')"), ElementsAre(R"(a\n)"));
}

TEST(SplitWords, NothingIsExpanded) {
    EXPECT_THAT(*split_words("$HOME ~ * `id` a;b|c"),
                ElementsAre("$HOME", "~", "*", "`id`", "a;b|c"));
}

TEST(SplitWords, AnOpenQuoteIsAnError) {
    for (const auto* line : {"a 'b", "a \"b", "a\\", "\"a\\"}) {
        EXPECT_FALSE(split_words(line)) << line;
    }
}

}  // namespace
}  // namespace knell
