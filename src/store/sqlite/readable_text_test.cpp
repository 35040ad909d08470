#include "store/sqlite/readable_text.hpp"

#include <gtest/gtest.h>

namespace knell::sqlite {
namespace {

int told = 0;

TEST(ReadableText, IsAsItWasWhereItCanBe) {
    for (const auto* text : {"", "plain", "Grüße, 世界 🎉"}) EXPECT_EQ(readable_text(text), text);
}

TEST(ReadableText, HasAMarkForEachByteThatIsNoneOfACharacter) {
    EXPECT_EQ(readable_text("a\xff"
                            "b"),
              "a\uFFFD"
              "b");
    EXPECT_EQ(readable_text("\xe4\xb8 \xe4\xb8\x96"), "\uFFFD\uFFFD 世");
    EXPECT_EQ(readable_text("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");
}

TEST(ReadableText, IsToldOfOnce) {
    on_unreadable_text([] { ++told; });
    readable_text("fine");
    EXPECT_EQ(told, 0);
    readable_text("\xff");
    readable_text("\xff");
    EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace knell::sqlite
