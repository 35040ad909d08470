#include "cli/harmless_text.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace knell::cli {
namespace {

/// In one piece; it must not matter where it is cut.
std::string shown(std::string_view bytes) {
    HarmlessText whole;
    auto text = whole.add(bytes);
    text += whole.finish();
    HarmlessText piecewise;
    std::string pieces;
    for (const char byte : bytes) pieces += piecewise.add({&byte, 1});
    pieces += piecewise.finish();
    EXPECT_EQ(pieces, text) << "cut byte by byte";
    return text;
}

TEST(HarmlessText, LeavesTextAsItIs) {
    EXPECT_EQ(shown("one\n\ttwo – 日本 🎉\n"), "one\n\ttwo – 日本 🎉\n");
    EXPECT_EQ(shown(""), "");
}

TEST(HarmlessText, LeavesColoursAndTurnsThemOff) {
    EXPECT_EQ(shown("\x1b[31mred\x1b[0m"), "\x1b[31mred\x1b[0m\x1b[0m");
    EXPECT_EQ(shown("\x1b[38;2;1;2;3mx"), "\x1b[38;2;1;2;3mx\x1b[0m");
    EXPECT_EQ(shown("\x1b[mx"), "\x1b[mx\x1b[0m");
}

TEST(HarmlessText, ShowsWhatATerminalWouldObey) {
    EXPECT_EQ(shown("\x1b[2J"), "^[[2J");
    EXPECT_EQ(shown("\x1b]0;title\a"), "^[]0;title^G");
    EXPECT_EQ(shown("\x1b]52;c;AAAA\x1b\\"), "^[]52;c;AAAA^[\\");
    EXPECT_EQ(shown("\x1b[6n"), "^[[6n");
    EXPECT_EQ(shown("\x1b[>4;1m"), "^[[>4;1m");
    EXPECT_EQ(shown("\x1b[?25l"), "^[[?25l");
    EXPECT_EQ(shown("\x1b"), "^[");
    EXPECT_EQ(shown("\x1b["), "^[[");
    EXPECT_EQ(shown("a\bb\x7f"), "a^Hb^?");
    EXPECT_EQ(shown(std::string_view("\0", 1)), "^@");
}

TEST(HarmlessText, AColourThatDoesNotEndIsNone) {
    const std::string numbers(100, '1');
    EXPECT_EQ(shown("\x1b[" + numbers + "m"), "^[[" + numbers + "m");
    EXPECT_EQ(shown("\x1b[31\x1b[32mx"), "^[[31\x1b[32mx\x1b[0m");
}

TEST(HarmlessText, NothingIsWrittenOver) {
    EXPECT_EQ(shown("10%\r20%\r\ndone\r\n"), "10%\n20%\ndone\n");
    EXPECT_EQ(shown("\r\r\n"), "\n\n");
    EXPECT_EQ(shown("\rx\n"), "\nx\n");
}

TEST(HarmlessText, WhatIsNoTextIsAQuestionMark) {
    EXPECT_EQ(shown("a\xff\xfe"), "a??");
    EXPECT_EQ(shown("\xe6\x97"), "??");
    EXPECT_EQ(shown("\xe6\x97x"), "??x");
    EXPECT_EQ(shown("\xc2\x9b"
                    "31m"),
              "?31m");  // CSI as one character
    EXPECT_EQ(shown("\xe2\x80\xae"
                    "evil"),
              "?evil");                       // turns the direction
    EXPECT_EQ(shown("\xed\xa0\x80"), "???");  // half of a surrogate pair
}

TEST(HarmlessText, OfAllBytesNoneButColoursReachesTheTerminal) {
    std::string bytes;
    for (int first = 0; first < 256; ++first) {
        for (int second = 0; second < 256; ++second) {
            bytes += static_cast<char>(first);
            bytes += static_cast<char>(second);
        }
    }
    HarmlessText harmless;
    auto text = harmless.add(bytes) + harmless.finish();
    EXPECT_TRUE(is_utf8(text));
    for (const char byte : text) {
        if (byte == '\n' || byte == '\t') continue;
        ASSERT_GE(static_cast<unsigned char>(byte), 0x20U);
        ASSERT_NE(byte, '\x7f');
    }
}

}  // namespace
}  // namespace knell::cli
