#include "svg_plot.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell::bench {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(SvgPlot, LogarithmicTicksArePowersOfTenAroundTheData) {
    EXPECT_THAT(log_ticks(0.02, 70),
                ElementsAre(DoubleNear(0.01, 1e-12), DoubleNear(0.1, 1e-12), 1, 10, 100));
}

TEST(SvgPlot, PowersOfTenAreTheirOwnTicks) {
    EXPECT_THAT(log_ticks(1'000, 1'000'000), ElementsAre(1e3, 1e4, 1e5, 1e6));
}

TEST(SvgPlot, ASingleValueStillHasTwoLogarithmicTicks) {
    EXPECT_THAT(log_ticks(10, 10), ElementsAre(10, 100));
}

TEST(SvgPlot, ManyPowersAreLabelledEveryThird) {
    const auto ticks = log_ticks(1e-6, 1e6);

    EXPECT_LE(ticks.size(), 6U);
    EXPECT_GE(ticks.back(), 1e6);
}

TEST(SvgPlot, LinearTicksAreRoundAndCoverTheData) {
    EXPECT_THAT(linear_ticks(0, 1),
                ElementsAre(0, DoubleNear(0.2, 1e-9), DoubleNear(0.4, 1e-9), DoubleNear(0.6, 1e-9),
                            DoubleNear(0.8, 1e-9), DoubleNear(1, 1e-9)));
    EXPECT_THAT(linear_ticks(3, 47), ElementsAre(0, 10, 20, 30, 40, 50));
}

TEST(SvgPlot, ADistributionRisesFromZeroToOne) {
    const auto points = distribution_of({3, 1, 2, 4});

    EXPECT_EQ(points.front().y, 0);
    EXPECT_EQ(points.front().x, 1);
    EXPECT_EQ(points[2].x, 2);
    EXPECT_EQ(points[2].y, 0.5);
    EXPECT_EQ(points.back().x, 4);
    EXPECT_EQ(points.back().y, 1);
}

TEST(SvgPlot, ADistributionOfManySamplesStaysSmall) {
    const std::vector<double> samples(100'000, 1.0);

    EXPECT_LE(distribution_of(samples, 200).size(), 200U);
}

TEST(SvgPlot, WhatNeverHappenedKeepsADistributionBelowOne) {
    const auto never = std::numeric_limits<double>::infinity();

    const auto points = distribution_of({1, 2, never, never});

    EXPECT_EQ(points.back().x, 2);
    EXPECT_EQ(points.back().y, 0.5);
    EXPECT_TRUE(distribution_of({never}).empty());
}

TEST(SvgPlot, WordsAreEscaped) {
    const auto svg = to_svg({.title = "a < b & c", .x = {}, .y = {}, .series = {}});

    EXPECT_THAT(svg, HasSubstr("a &lt; b &amp; c"));
}

TEST(SvgPlot, WhatALogarithmicAxisCannotShowIsLeftOut) {
    const auto svg = to_svg({.title = "t",
                             .x = {.label = "x", .logarithmic = true},
                             .y = {.label = "y", .logarithmic = true},
                             .series = {{.name = "s", .points = {{0, 1}, {10, 0}, {10, 10}}}}});

    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

}  // namespace
}  // namespace knell::bench
