#include "deliver/backoff.hpp"

#include <set>

#include <gtest/gtest.h>

namespace knell {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, GrowsToHoursAndStaysThere) {
    constexpr std::array expected{5s, 20s, 80s, 320s, 1280s, 5120s, 20480s, 21600s, 21600s};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto delay = backoff("ops", 7, static_cast<int>(i) + 1);
        EXPECT_GE(delay, expected.at(i) * 8 / 10) << i;
        EXPECT_LE(delay, expected.at(i) * 12 / 10) << i;
    }
    EXPECT_LE(backoff("ops", 7, 1'000'000), 6h * 12 / 10);
}

TEST(Backoff, WhatFailedTogetherDoesNotComeBackTogether) {
    std::set<std::chrono::milliseconds> delays;
    for (Seq seq = 1; seq <= 1000; ++seq) delays.insert(backoff("ops", seq, 3));
    EXPECT_GT(delays.size(), 300U);
}

TEST(Backoff, IsTheSameEachTime) {
    EXPECT_EQ(backoff("ops", 7, 3), backoff("ops", 7, 3));
    EXPECT_NE(backoff("ops", 7, 3), backoff("dev", 7, 3));
}

}  // namespace
}  // namespace knell
