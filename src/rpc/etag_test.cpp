#include "rpc/etag.hpp"

#include <gtest/gtest.h>

namespace knell::rpc {
namespace {

TEST(Etag, IsQuotedAndAsLongAsAny) {
    EXPECT_EQ(etag_of(0x2a), "\"000000000000002a\"");
}

TEST(Etag, IsNamedByAListAStarOrAWeakOne) {
    const std::string etag = "\"2a\"";
    for (const auto* header : {"\"2a\"", "*", "W/\"2a\"", "\"1\", \"2a\"", "\"1\",W/\"2a\"",
                               "\"a,b\" , \"2a\"", "  \"2a\""}) {
        EXPECT_TRUE(is_match(header, etag)) << header;
    }
    for (const auto* header : {"", "\"2b\"", "2a", "\"2a", "w/\"2a\"", "\"1\" x \"2a\"", "**",
                               "\"*\"", ",", "\"2a \""}) {
        EXPECT_FALSE(is_match(header, etag)) << header;
    }
}

}  // namespace
}  // namespace knell::rpc
