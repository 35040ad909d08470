#include "net/http/tokens.hpp"

#include <gtest/gtest.h>

namespace knell::net::http {
namespace {

using rpc::Access;

const Tokens tokens{.full = "aaaaaaaa", .read_only = "bbbbbbbb"};

TEST(Tokens, AllowWhatTheyAreFor) {
    EXPECT_EQ(access_by("aaaaaaaa", tokens), Access::full);
    EXPECT_EQ(access_by("bbbbbbbb", tokens), Access::read_only);
}

TEST(Tokens, ThatDifferAnywhereAllowNothing) {
    for (const auto* wrong : {"", "a", "aaaaaaab", "baaaaaaa", "aaaaaaaaa", "aaaaaaa", "AAAAAAAA",
                              "aaaaaaaaaaaaaaaa", "aaaabbbb"}) {
        EXPECT_EQ(access_by(wrong, tokens), std::nullopt) << wrong;
    }
}

TEST(Tokens, ThatAreMissingAllowNothing) {
    EXPECT_EQ(access_by("", Tokens{}), std::nullopt);
    EXPECT_EQ(access_by("x", Tokens{}), std::nullopt);
    EXPECT_EQ(access_by("bbbbbbbb", Tokens{.full = "", .read_only = "bbbbbbbb"}),
              Access::read_only);
}

TEST(Tokens, AreInTheHeaderBehindTheirScheme) {
    EXPECT_EQ(bearer_token("Bearer abc"), "abc");
    EXPECT_EQ(bearer_token("bEARER  abc"), "abc");
    for (const auto* header : {"", "Bearer", "Bearer ", "Basic abc", "abc", "Bearerabc"}) {
        EXPECT_EQ(bearer_token(header), "") << header;
    }
}

}  // namespace
}  // namespace knell::net::http
