#include "growth_fit.hpp"

#include <gtest/gtest.h>

namespace knell::bench {
namespace {

std::vector<Measured> costs(double a, double b, double c, double d) {
    return {{1e3, a}, {1e4, b}, {1e5, c}, {1e6, d}};
}

TEST(GrowthFit, ACostThatStaysIsConstant) {
    EXPECT_EQ(classify(costs(100, 100, 100, 100)), Growth::constant);
}

TEST(GrowthFit, NoiseAndATouchOfLogarithmAreConstant) {
    EXPECT_EQ(classify(costs(100, 130, 90, 150)), Growth::constant);
}

TEST(GrowthFit, ACostThatFallsIsConstant) {
    EXPECT_EQ(classify(costs(100, 50, 20, 10)), Growth::constant);
}

TEST(GrowthFit, TheRootIsBelowLinear) {
    EXPECT_EQ(classify(costs(1, 3.16, 10, 31.6)), Growth::below_linear);
}

TEST(GrowthFit, TenTimesTheCostForTenTimesTheSessionsIsLinear) {
    EXPECT_EQ(classify(costs(1, 10, 100, 1000)), Growth::linear);
}

TEST(GrowthFit, TheSquareIsWorse) {
    EXPECT_EQ(classify(costs(1, 100, 1e4, 1e6)), Growth::worse);
}

TEST(GrowthFit, AFixedCostDoesNotHideWhatTheLastStepShows) {
    EXPECT_EQ(classify(costs(100, 100, 100, 1500)), Growth::worse);
}

TEST(GrowthFit, ACostOfNothingDoesNotGrow) {
    EXPECT_EQ(classify(costs(0, 0, 0, 5)), Growth::constant);
}

}  // namespace
}  // namespace knell::bench
