#include "base/visible.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

TEST(Visible, IsWhatAPersonSees) {
    for (const auto* text :
         {"a", " .", "\u200b\u4e16", "\u00e9", "\U0001f514", "\xef\xbb\xbfx", "?"}) {
        EXPECT_TRUE(is_visible(text)) << text;
    }
}

TEST(Visible, IsNoBlankOfAnyWidthAndNoMarkAlone) {
    for (const auto* text :
         {"", " \t\r\n", "\u00a0", "\u200b\u200c\u200d", "\u2060", "\ufeff", "\u3000 \u2003",
          "\u00ad", "\u2028", "\u202e", "\U000e0020", "\x01\x7f"}) {
        EXPECT_FALSE(is_visible(text)) << text;
    }
}

}  // namespace
}  // namespace knell
