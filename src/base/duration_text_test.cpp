#include "base/duration_text.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;

TEST(DurationText, IsANumberWithAUnit) {
    EXPECT_EQ(parse_duration("90s", 1s), 90s);
    EXPECT_EQ(parse_duration("2m", 1s), 2min);
    EXPECT_EQ(parse_duration("12h", 1s), 12h);
    EXPECT_EQ(parse_duration("30d", 1s), days{30});
    EXPECT_EQ(parse_duration("0d", 1s), 0s);
}

TEST(DurationText, ABareNumberCountsTheUnitOfTheKey) {
    EXPECT_EQ(parse_duration("15", 1s), 15s);
    EXPECT_EQ(parse_duration("15", days{1}), days{15});
    EXPECT_EQ(parse_duration("15s", days{1}), 15s);
}

TEST(DurationText, AnythingElseIsNone) {
    for (const auto* text :
         {"", "s", "-1s", "-1", "+1s", "1.5h", "1 h", " 1h", "1h ", "1h30m", "1ms", "1w", "1S",
          "0x5s", "five", "99999999999999999999", "9999999999999d"}) {
        EXPECT_FALSE(parse_duration(text, 1s)) << text;
    }
}

TEST(DurationText, IsWrittenInItsLargestWholeUnit) {
    EXPECT_EQ(format_duration(0s), "0s");
    EXPECT_EQ(format_duration(90s), "90s");
    EXPECT_EQ(format_duration(120s), "2m");
    EXPECT_EQ(format_duration(36h), "36h");
    EXPECT_EQ(format_duration(48h), "2d");
}

TEST(DurationText, IsReadAsItIsWritten) {
    for (const auto duration : {1s, 59s, 61s, 3600s, 86'399s, 86'400s}) {
        EXPECT_EQ(parse_duration(format_duration(duration), days{1}), duration);
    }
}

}  // namespace
}  // namespace knell
