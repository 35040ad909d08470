#include "cli/bar_chart.hpp"

#include <sstream>

#include <gtest/gtest.h>

#include "cli/text_width.hpp"

namespace knell::cli {
namespace {

TEST(BarChart, TheLongestTakesTheRoom) {
    EXPECT_EQ(bar_chart({{"a", 8, "8"}, {"bcd", 4, "4"}, {"e", 0, "0"}}, {.width = 16}),
              "  a   ████████ 8\n"
              "  bcd ████ 4\n"
              "  e   0\n");
}

TEST(BarChart, WhateverIsAboveNothingIsSeen) {
    EXPECT_EQ(bar_chart({{"a", 1'000'000, "1M"}, {"b", 1, "1"}}, {.width = 12}),
              "  a █████ 1M\n"
              "  b ▏ 1\n");
}

TEST(BarChart, FitsWhereverItIsShown) {
    const std::vector<Bar> bars{
        {"a-rather-long-name-of-a-source-that-somebody-made", 12345, "12k, 1.2M tokens"},
        {"北京", INT64_MAX, "9.2E"},
        {"\x1b[2J", 0, "0"}};
    for (const std::size_t width : {24U, 40U, 80U, 200U}) {
        std::istringstream lines(bar_chart(bars, {.width = width}));
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LE(display_width(line), width) << line;
            EXPECT_EQ(line.find('\x1b'), std::string::npos);
        }
    }
}

TEST(ShortNumber, HasTwoOrThreeDigits) {
    EXPECT_EQ(short_number(0), "0");
    EXPECT_EQ(short_number(999), "999");
    EXPECT_EQ(short_number(1000), "1.0k");
    EXPECT_EQ(short_number(1234), "1.2k");
    EXPECT_EQ(short_number(9960), "10k");
    EXPECT_EQ(short_number(999'499), "999k");
    EXPECT_EQ(short_number(999'500), "1.0M");
    EXPECT_EQ(short_number(INT64_MAX), "9.2E");
}

}  // namespace
}  // namespace knell::cli
