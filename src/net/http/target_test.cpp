#include "net/http/target.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http/bounds.hpp"

namespace knell::net::http {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

Target parsed(std::string_view text) {
    auto target = parse_target(text);
    if (target) return std::move(*target);
    ADD_FAILURE() << text << ": " << target.error().message;
    return {};
}

std::string complaint(std::string_view text) {
    const auto target = parse_target(text);
    return target ? "" : target.error().message;
}

TEST(Target, IsAPathAndAQuery) {
    const auto target = parsed("/v1/sessions?status=idle&limit=5");

    EXPECT_THAT(target.path, ElementsAre("v1", "sessions"));
    EXPECT_THAT(target.query, ElementsAre(Pair("status", "idle"), Pair("limit", "5")));
}

TEST(Target, OfTheRootHasNoParts) {
    EXPECT_THAT(parsed("/").path, IsEmpty());
    EXPECT_THAT(parsed("/?").query, IsEmpty());
}

TEST(Target, IsDecodedAfterItIsCut) {
    const auto target = parsed("/v1/sessions/a%2Fb?key=agent%3Amain%26x+y&flag&=v&&a=b=c");

    EXPECT_THAT(target.path, ElementsAre("v1", "sessions", "a/b"));
    EXPECT_THAT(target.query, ElementsAre(Pair("key", "agent:main&x y"), Pair("flag", ""),
                                          Pair("", "v"), Pair("a", "b=c")));
    EXPECT_THAT(parsed("/a+b").path, ElementsAre("a+b")) << "a plus is a blank in a query alone";
}

TEST(Target, KeepsEmptyPartsOfThePath) {
    EXPECT_THAT(parsed("//v1//x/").path, ElementsAre("", "v1", "", "x"));
}

TEST(Target, ThatCannotBeReadIsRefused) {
    EXPECT_THAT(complaint(""), HasSubstr("begin with a slash"));
    EXPECT_THAT(complaint("http://127.0.0.1/healthz"), HasSubstr("begin with a slash"));
    EXPECT_THAT(complaint("*"), HasSubstr("begin with a slash"));
    EXPECT_THAT(complaint("/a#b"), HasSubstr("%XX"));
    EXPECT_THAT(complaint("/a\tb"), HasSubstr("%XX"));
    for (const auto* text : {"/%", "/%4", "/%zz", "/?a=%1", "/?%g0=1"}) {
        EXPECT_THAT(complaint(text), HasSubstr("hexadecimal")) << text;
    }
    for (const auto* text : {"/%ff", "/%00", "/?a=%c3%28"}) {
        EXPECT_THAT(complaint(text), HasSubstr("UTF-8")) << text;
    }
}

TEST(Target, IsBounded) {
    const std::string longest(bounds::target_bytes_max - 1, 'a');
    EXPECT_EQ(complaint("/" + longest), "");
    EXPECT_THAT(complaint("/a" + longest), HasSubstr("bytes long"));

    std::string query = "/?a";
    for (std::size_t i = 1; i < bounds::query_items_max; ++i) query += "&a";
    EXPECT_EQ(complaint(query), "");
    EXPECT_THAT(complaint(query + "&a"), HasSubstr("parts"));
}

TEST(Target, IsEncodedSoThatItIsReadAgain) {
    const std::string text = "agent:main & co/ü+%";
    EXPECT_EQ(encode_query("a-b_c.d~9Z"), "a-b_c.d~9Z");
    EXPECT_THAT(parsed("/?k=" + encode_query(text)).query, ElementsAre(Pair("k", text)));
}

}  // namespace
}  // namespace knell::net::http
