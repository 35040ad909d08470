#include "core/snippet.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.hpp"
#include "core/read_limits.hpp"
#include "core/words.hpp"

namespace knell {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Snippet snippet_of(std::string_view query, std::string_view text) {
    return make_snippet(text, match(*parse_search_terms(query), text).value().spans);
}
std::vector<std::string> characters_of(std::string_view text) {
    std::vector<std::string> characters;
    while (!text.empty()) {
        const auto bytes = std::max<std::size_t>(first_code_point(text).bytes, 1);
        characters.emplace_back(text.substr(0, bytes));
        text.remove_prefix(bytes);
    }
    return characters;
}
/// What is marked, each by itself.
std::vector<std::string> marked(const Snippet& snippet) {
    const auto characters = characters_of(snippet.text);
    std::vector<std::string> pieces;
    for (const auto& mark : snippet.marks) {
        std::string piece;
        for (auto at = mark.start; at < mark.start + mark.length; ++at) {
            piece += characters.at(static_cast<std::size_t>(at));
        }
        pieces.push_back(piece);
    }
    return pieces;
}

TEST(Snippet, OfAShortTextIsAllOfIt) {
    const auto snippet = snippet_of("full", "The disk is full.");
    EXPECT_EQ(snippet.text, "The disk is full.");
    EXPECT_THAT(snippet.marks, ElementsAre(Snippet::Mark{12, 4}));
}

TEST(Snippet, OfATextThatHasRoomNothingIsCut) {
    const auto text = std::string(100, 'x') + " disk";
    EXPECT_EQ(snippet_of("disk", text).text, text);
}

TEST(Snippet, IsOneLine) {
    const auto snippet = snippet_of("\"b c\"", "  a\n\n\t b\r\nc \x1b[31m");
    EXPECT_EQ(snippet.text, "a b c [31m");
    EXPECT_THAT(marked(snippet), ElementsAre("b c"));
}

TEST(Snippet, IsCutAroundWhatWasFound) {
    const auto text = std::string(500, 'x') + " " + std::string(500, 'y') + " the disk is full " +
                      std::string(500, 'z');
    const auto snippet = snippet_of("disk full", text);
    EXPECT_THAT(marked(snippet), ElementsAre("disk", "full"));
    EXPECT_TRUE(snippet.text.starts_with("…")) << snippet.text;
    EXPECT_TRUE(snippet.text.ends_with("…")) << snippet.text;
    EXPECT_THAT(characters_of(snippet.text),
                SizeIs(static_cast<std::size_t>(limits::snippet_characters_max) + 1));
}

TEST(Snippet, IsWhereMostOfItStands) {
    const auto text = "disk " + std::string(400, '-') + " full disk " + std::string(400, '-');
    EXPECT_THAT(marked(snippet_of("disk full", text)), ElementsAre("full", "disk"));
}

TEST(Snippet, CountsCharactersNotBytes) {
    const auto snippet = snippet_of("京", "東京 ✅");
    EXPECT_THAT(snippet.marks, ElementsAre(Snippet::Mark{1, 1}));
    EXPECT_THAT(marked(snippet_of("東京", "、東京、")), ElementsAre("東京")) << "side by side";
}

TEST(Snippet, WithoutAnythingFoundIsTheBeginning) {
    const auto snippet = make_snippet("a text", {});
    EXPECT_EQ(snippet.text, "a text");
    EXPECT_THAT(snippet.marks, IsEmpty());
    EXPECT_EQ(make_snippet("", {}).text, "");
}

RC_GTEST_PROP(Snippet, IsShortTextWithMarksInIt, ()) {
    const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
        "a", "b", " ", "\n", "ä", "東", "\xff", "long-word-of-some-kind ", "needle ", "́"));
    std::string text = "needle ";
    for (const auto& piece : pieces) text += piece;
    const auto snippet = snippet_of("needle", text);

    RC_ASSERT(is_utf8(snippet.text));
    RC_ASSERT(!has_control_character(snippet.text));
    const auto characters = static_cast<std::int64_t>(characters_of(snippet.text).size());
    RC_ASSERT(characters <= limits::snippet_characters_max + 1);
    RC_ASSERT(!snippet.marks.empty());
    std::int64_t end = -1;
    for (const auto& mark : snippet.marks) {
        RC_ASSERT(mark.start > end && mark.length > 0);
        end = mark.start + mark.length;
        RC_ASSERT(end <= characters);
    }
}

}  // namespace
}  // namespace knell
