#include "cli/bytes_text.hpp"

#include <gtest/gtest.h>

namespace knell::cli {
namespace {

TEST(BytesText, HasTheUnitThatKeepsItShort) {
    EXPECT_EQ(format_bytes(0), "0 bytes");
    EXPECT_EQ(format_bytes(999), "999 bytes");
    EXPECT_EQ(format_bytes(1'306'624), "1.3 MB");
    EXPECT_EQ(format_bytes(999'960'000), "1.0 GB");
}

}  // namespace
}  // namespace knell::cli
