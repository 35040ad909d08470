#include "config/number_pattern.hpp"

#include <regex>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace knell {
namespace {

using namespace std::chrono_literals;

bool matches(const std::string& pattern, const std::string& text) {
    return std::regex_match(text, std::regex(pattern));
}

TEST(NumberPattern, SaysWhatAPersonWouldWrite) {
    EXPECT_EQ(number_pattern(0, 9), "([0-9])");
    EXPECT_EQ(number_pattern(1, 600), "([1-9]|[1-9][0-9]|([1-5][0-9]{2}|600))");
    EXPECT_EQ(number_pattern(7, 7), "(7)");
}

RC_GTEST_PROP(NumberPattern, MatchesTheNumbersBetweenItsBoundsAndNoOthers, ()) {
    const auto least = *rc::gen::inRange<std::int64_t>(0, 2000);
    const auto most = least + *rc::gen::inRange<std::int64_t>(0, 20'000);
    const std::regex pattern(number_pattern(least, most));
    for (const auto near : {least, most, std::int64_t{10}, std::int64_t{100}, std::int64_t{1000},
                            *rc::gen::inRange<std::int64_t>(0, 30'000)}) {
        for (auto number = std::max<std::int64_t>(0, near - 11); number < near + 11; ++number) {
            const auto text = std::to_string(number);
            RC_ASSERT(std::regex_match(text, pattern) == (least <= number && number <= most));
            RC_ASSERT(!std::regex_match("0" + text, pattern));
        }
    }
}

TEST(NumberPattern, OfDurationsHasTheBoundsOfEachUnit) {
    const auto pattern = duration_pattern(90s, 2h, 1s);
    for (const auto* text : {"90s", "7200s", "2m", "120m", "1h", "2h"}) {
        EXPECT_TRUE(matches(pattern, text)) << text;
    }
    for (const auto* text : {"89s", "7201s", "1m", "121m", "0h", "3h", "1d", "090s", "90", "s"}) {
        EXPECT_FALSE(matches(pattern, text)) << text;
    }
}

TEST(NumberPattern, OfWholeDaysHasNoSmallerUnit) {
    const auto pattern = duration_pattern(24h, 24h * 30, 24h);
    EXPECT_TRUE(matches(pattern, "30d"));
    EXPECT_FALSE(matches(pattern, "31d"));
    EXPECT_FALSE(matches(pattern, "48h"));
}

}  // namespace
}  // namespace knell
