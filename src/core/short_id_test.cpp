#include "core/short_id.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

std::string shortened(std::string id, std::string before, std::string after) {
    return short_id(SessionId(std::move(id)), SessionId(std::move(before)),
                    SessionId(std::move(after)));
}

TEST(ShortId, OfOneThatWasMadeHereIsItsFirstEightCharacters) {
    EXPECT_EQ(shortened("0190b2f0-6a1e-7abc-8def-0123456789ab", "", ""), "0190b2f0");
    EXPECT_EQ(shortened("0190b2f0-6a1e-7abc-8def-0123456789ab",
                        "0190b2ee-ffff-7abc-8def-0123456789ab", "build-42"),
              "0190b2f0");
}

TEST(ShortId, IsAsLongAsItsNeighboursMakeIt) {
    EXPECT_EQ(shortened("0190b2f0-6a1e-7abc-8def-0123456789ab",
                        "0190b2f0-6900-7abc-8def-0123456789ab", ""),
              "0190b2f0-6a");
    EXPECT_EQ(shortened("0190b2f0-6a1e-7abc-8def-0123456789ab", "",
                        "0190b2f0-6a1e-7abc-8def-0123456789ac"),
              "0190b2f0-6a1e-7abc-8def-0123456789ab");
}

TEST(ShortId, DoesNotEndWithADash) {
    EXPECT_EQ(shortened("0190b2f0-6a1e-7abc-8def-0123456789ab", "0190b2f0", ""), "0190b2f0-6");
}

TEST(ShortId, OfOneThatSomebodyThoughtUpIsWholeUnlessItIsLong) {
    EXPECT_EQ(shortened("build-42", "", ""), "build-42");
    EXPECT_EQ(shortened("nightly-report-of-the-whole-house", "", "nightly-report-x"),
              "nightly-report-o");
    EXPECT_EQ(shortened("b", "a", "b2"), "b");
}

TEST(ShortId, OfOneThatBeginsAnotherIsWhole) {
    EXPECT_EQ(shortened("0190b2f0-6a1e-7abc-8def-0123456789ab", "",
                        "0190b2f0-6a1e-7abc-8def-0123456789ab-2"),
              "0190b2f0-6a1e-7abc-8def-0123456789ab");
}

}  // namespace
}  // namespace knell
