#include "cli/session_screen.hpp"

#include <gtest/gtest.h>

namespace knell::cli {
namespace {

TEST(Repaint, PutsEachLineInThePlaceOfAnother) {
    EXPECT_EQ(repaint("a\nb\n", 10), "\x1b[Ha\x1b[K\nb\x1b[K\n\x1b[J");
}

TEST(Repaint, NeverScrolls) {
    EXPECT_EQ(repaint("a\nb\nc\nd\n", 4),
              "\x1b[Ha\x1b[K\nb\x1b[K\n2 more lines: make the terminal higher\x1b[K\n\x1b[J");
    EXPECT_EQ(repaint("a\nb\nc\n", 4), "\x1b[Ha\x1b[K\nb\x1b[K\nc\x1b[K\n\x1b[J");
}

}  // namespace
}  // namespace knell::cli
