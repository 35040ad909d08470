#include "client/harmless_text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.hpp"

namespace knell::client {
namespace {

TEST(HarmlessMember, LeavesWordsOfAllPeoples) {
    for (const auto* text : {"", "make test", "a\tb\nc", "bäder ½ €", "שלום", "漢字 😀"}) {
        EXPECT_EQ(harmless(text), text);
    }
}

TEST(HarmlessMember, ShowsWhatWouldBeObeyed) {
    EXPECT_EQ(harmless("\x1b[2J\r\x7f"), "?[2J??");
    EXPECT_EQ(harmless("a\xe2\x80\xaegpj.exe"), "a?gpj.exe") << "U+202E";
    EXPECT_EQ(harmless("\xe2\x80\xaa\xe2\x81\xa6\xe2\x81\xa9\xe2\x80\xa8"), "????");
    EXPECT_EQ(harmless("\xc2\x9b"
                       "31m"),
              "?31m")
        << "a CSI of one character";
    EXPECT_EQ(harmless("a\xff\xc3"), "a??");
    EXPECT_EQ(harmless("\xe2\x80"), "??") << "cut short";
}

RC_GTEST_PROP(HarmlessMember, IsTextAndStaysAsItIs, (const std::string& bytes)) {
    const auto text = harmless(bytes);
    RC_ASSERT(is_utf8(text));
    RC_ASSERT(harmless(text) == text);
}

TEST(HarmlessMember, IsEveryOneButTheNamed) {
    auto value = *wire::parse_json(
        R"({"title":"a\u202eb","list":[{"argv":["x\u0007"],"n":1}],"output":"\u001b[1m"})");
    make_harmless(value, "output");
    EXPECT_EQ(value, *wire::parse_json(
                         R"({"title":"a?b","list":[{"argv":["x?"],"n":1}],"output":"\u001b[1m"})"));
}

}  // namespace
}  // namespace knell::client
