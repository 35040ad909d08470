#include "reset/time_of_day.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

using namespace std::chrono_literals;

TEST(TimeOfDay, IsAnHourOrHoursAndMinutes) {
    EXPECT_EQ(parse_time_of_day("0"), 0min);
    EXPECT_EQ(parse_time_of_day("6"), 6h);
    EXPECT_EQ(parse_time_of_day("06"), 6h);
    EXPECT_EQ(parse_time_of_day("23"), 23h);
    EXPECT_EQ(parse_time_of_day("6:30"), 6h + 30min);
    EXPECT_EQ(parse_time_of_day("06:05"), 6h + 5min);
    EXPECT_EQ(parse_time_of_day("23:59"), 23h + 59min);
}

TEST(TimeOfDay, IsNothingElse) {
    for (const auto* text : {"", ":", "24", "24:00", "-1", "+6", "6:", ":30", "6:5", "6:60",
                             "6:300", "006", "6:30:00", "6 ", " 6", "6am", "6.30", "a", "6:a0"}) {
        EXPECT_EQ(parse_time_of_day(text), std::nullopt) << text;
    }
}

TEST(TimeOfDay, IsWrittenAsItIsRead) {
    for (auto time = 0min; time < 24h; ++time) {
        EXPECT_EQ(parse_time_of_day(format_time_of_day(time)), time);
    }
    EXPECT_EQ(format_time_of_day(6h + 5min), "06:05");
}

}  // namespace
}  // namespace knell
