#include "core/search_terms.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/read_limits.hpp"

namespace knell {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SearchPhrase phrase(std::vector<std::string> words, bool is_prefix = false) {
    return {std::move(words), is_prefix};
}
auto parsed(std::string_view text) {
    const auto terms = parse_search_terms(text);
    EXPECT_TRUE(terms) << terms.error();
    return terms.value_or(SearchTerms{}).phrases;
}
std::string refused(std::string_view text) {
    const auto terms = parse_search_terms(text);
    return terms ? "" : terms.error();
}
bool holds(std::string_view query, std::string_view text) {
    return match(*parse_search_terms(query), text).has_value();
}
std::int64_t score_of(std::string_view query, std::string_view text) {
    return match(*parse_search_terms(query), text).value().score;
}

TEST(SearchTerms, AreWordsPhrasesAndBeginnings) {
    EXPECT_THAT(parsed("Disk  full"), ElementsAre(phrase({"disk"}), phrase({"full"})));
    EXPECT_THAT(parsed("\"No space\" left"),
                ElementsAre(phrase({"no", "space"}), phrase({"left"})));
    EXPECT_THAT(parsed("deploy*"), ElementsAre(phrase({"deploy"}, true)));
    EXPECT_THAT(parsed("\"git pu\"*"), ElementsAre(phrase({"git", "pu"}, true)));
    EXPECT_THAT(parsed("/var/log 10.0.0.1"),
                ElementsAre(phrase({"var", "log"}), phrase({"10", "0", "0", "1"})));
    EXPECT_THAT(parsed("a a"), ElementsAre(phrase({"a"})));
    EXPECT_THAT(parsed("say\"what now\""), ElementsAre(phrase({"say"}), phrase({"what", "now"})));
}

TEST(SearchTerms, NothingElseHasAMeaning) {
    EXPECT_THAT(parsed("a AND b"), ElementsAre(phrase({"a"}), phrase({"and"}), phrase({"b"})));
    EXPECT_THAT(parsed("content:x NEAR(y)"),
                ElementsAre(phrase({"content", "x"}), phrase({"near", "y"})));
    EXPECT_THAT(parsed("\"never closed"), ElementsAre(phrase({"never", "closed"})));
    EXPECT_THAT(parsed("'; DROP -- ^a"), ElementsAre(phrase({"drop"}), phrase({"a"})));
    EXPECT_THAT(parsed("* ** \"\" x"), ElementsAre(phrase({"x"})));
}

TEST(SearchTerms, TooMuchAndNothingAreRefused) {
    EXPECT_THAT(refused(""), HasSubstr("no word"));
    EXPECT_THAT(refused(" -- \"\" "), HasSubstr("no word"));
    EXPECT_THAT(refused("a*"), HasSubstr("2 letters"));
    EXPECT_THAT(refused(std::string(limits::search_query_bytes_max + 1, 'a')), HasSubstr("1000"));
    std::string many;
    for (std::size_t i = 0; i < limits::search_words_max; ++i)
        many += "w" + std::to_string(i) + " ";
    EXPECT_EQ(refused(many), "");
    EXPECT_THAT(refused(many + "more"), HasSubstr("32 words"));
}

TEST(SearchMatch, HoldsAllOfThemWherever) {
    EXPECT_TRUE(holds("full disk", "The disk is FULL."));
    EXPECT_FALSE(holds("full disk", "The disk is fine."));
    EXPECT_TRUE(holds("\"disk is\"", "The disk, is full"));
    EXPECT_FALSE(holds("\"is disk\"", "The disk is full"));
    EXPECT_TRUE(holds("dis*", "The disk is full"));
    EXPECT_FALSE(holds("isk*", "The disk is full"));
    EXPECT_TRUE(holds("\"the di\"*", "The disk"));
    EXPECT_FALSE(holds("\"full x\"", "The disk is full"));
}

TEST(SearchMatch, SaysWhereTheyStand) {
    const auto found = match(*parse_search_terms("b \"a b\""), "a b, a c b");
    ASSERT_TRUE(found);
    EXPECT_THAT(found->spans, ElementsAre(TextSpan{0, 3}, TextSpan{2, 3}, TextSpan{9, 10}));
}

TEST(SearchMatch, OfVeryManyOnlyTheFirstAreNamed) {
    std::string text;
    for (std::size_t i = 0; i < limits::search_spans_max + 50; ++i) text += "a ";
    EXPECT_EQ(match(*parse_search_terms("a"), text)->spans.size(), limits::search_spans_max);
}

TEST(SearchMatch, MoreOftenAndShorterIsBetter) {
    EXPECT_GT(score_of("disk", "disk disk x y"), score_of("disk", "disk x y z"));
    EXPECT_GT(score_of("disk", "disk x"), score_of("disk", "disk x y z"));
    EXPECT_GT(score_of("disk full", "disk full x"), score_of("disk", "disk full x"));
    const auto rare = score_of("disk", std::string(100'000, ' ') + "disk");
    EXPECT_EQ(rare, score_of("disk", "disk")) << "blanks are no words";
}

}  // namespace
}  // namespace knell
