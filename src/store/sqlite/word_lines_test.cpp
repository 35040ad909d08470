#include "store/sqlite/word_lines.hpp"

#include <gtest/gtest.h>

namespace knell::sqlite {
namespace {

using namespace std::string_literals;
using Words = std::vector<std::string>;

TEST(WordLines, ComeBackAsTheyWere) {
    for (const Words& words :
         {Words{}, Words{""}, Words{"", ""}, Words{"sh", "-c", "a\nb"}, Words{"\\", "\\n", "n\\"},
          Words{"nul\0nul"s, "\\0"}, Words{"tab\t", "\xc3\xa9", "\xff\xfe"}}) {
        EXPECT_EQ(words_from_lines(to_lines(words)), words) << to_lines(words);
    }
}

TEST(WordLines, AreReadableForPeople) {
    EXPECT_EQ(to_lines({"python3", "-m", "http.server"}), "python3\n-m\nhttp.server\n");
}

TEST(WordLines, WithoutAnEndAreStillRead) {
    EXPECT_EQ(words_from_lines("one\ntwo"), (Words{"one", "two"}));
    EXPECT_EQ(words_from_lines("one\\"), Words{"one"});
}

}  // namespace
}  // namespace knell::sqlite
