#include "wire/output_text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.hpp"

namespace knell::wire {
namespace {

TEST(OutputText, ReplacesEachByteThatIsPartOfNoLetter) {
    EXPECT_EQ(to_utf8(""), "");
    EXPECT_EQ(to_utf8("plain\n\x1b[1m"), "plain\n\x1b[1m");
    EXPECT_EQ(to_utf8("a\xff"
                      "b"),
              "a\xef\xbf\xbd"
              "b");
    EXPECT_EQ(to_utf8("\xc3\xa4\xc3"), "\xc3\xa4\xef\xbf\xbd");
    EXPECT_EQ(to_utf8("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd") << "a surrogate";
    EXPECT_EQ(to_utf8("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
}

RC_GTEST_PROP(OutputText, IsUtf8WhateverIsWritten, (const std::string& bytes)) {
    const auto text = to_utf8(bytes);
    RC_ASSERT(is_utf8(text));
    RC_ASSERT(to_utf8(text) == text);
}

TEST(OutputText, KnowsLettersThatAreCutInTwo) {
    EXPECT_EQ(unfinished_bytes(""), 0U);
    EXPECT_EQ(unfinished_bytes("abc"), 0U);
    EXPECT_EQ(unfinished_bytes("a\xc3"), 1U);
    EXPECT_EQ(unfinished_bytes("a\xc3\xa4"), 0U);
    EXPECT_EQ(unfinished_bytes("\xe2\x82"), 2U);
    EXPECT_EQ(unfinished_bytes("\xf0\x9f\x98"), 3U);
    EXPECT_EQ(unfinished_bytes("\xf0\x9f\x98\x80"), 0U);
    EXPECT_EQ(unfinished_bytes("\x80\x80\x80\x80"), 0U) << "no letter is so long";
    EXPECT_EQ(unfinished_bytes("\xff"), 0U);
    EXPECT_EQ(headless_bytes("\x98\x80z"), 2U);
    EXPECT_EQ(headless_bytes("\x80\x80\x80\x80"), 3U);
    EXPECT_EQ(headless_bytes("a\x80"), 0U);
}

RC_GTEST_PROP(OutputText, PagesThatKeepLettersWholeAddUp, ()) {
    const auto bytes = *rc::gen::container<std::string>(
        rc::gen::element('a', '\xc3', '\xa4', '\xe2', '\x82', '\xac', '\xf0', '\x9f', '\xff'));
    const auto page_bytes = *rc::gen::inRange<std::size_t>(4, 9);
    std::string text;
    for (std::size_t at = 0; at < bytes.size();) {
        auto page = bytes.substr(at, page_bytes);
        const bool is_last = at + page.size() == bytes.size();
        if (!is_last) page.resize(page.size() - unfinished_bytes(page));
        RC_ASSERT(!page.empty());
        text += to_utf8(page);
        at += page.size();
    }
    RC_ASSERT(text == to_utf8(bytes));
}

}  // namespace
}  // namespace knell::wire
