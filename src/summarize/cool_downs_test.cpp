#include "summarize/cool_downs.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

using namespace std::chrono_literals;

const SessionId a{"a"};
const SessionId b{"b"};
const SessionId c{"c"};
constexpr SteadyTime start{};

TEST(CoolDowns, ASessionThatFailedWaitsForThePause) {
    CoolDowns downs(10s);
    EXPECT_TRUE(downs.may_start(a, start));
    downs.note_failure(a, start);
    EXPECT_FALSE(downs.may_start(a, start));
    EXPECT_FALSE(downs.may_start(a, start + 10s - 1ns));
    EXPECT_TRUE(downs.may_start(a, start + 10s));
    EXPECT_TRUE(downs.may_start(b, start)) << "nobody waits for another";
}

TEST(CoolDowns, EachFailureBeginsAnew) {
    CoolDowns downs(10s);
    downs.note_failure(a, start);
    downs.note_failure(a, start + 8s);
    EXPECT_FALSE(downs.may_start(a, start + 17s));
    EXPECT_TRUE(downs.may_start(a, start + 18s));
}

TEST(CoolDowns, CanBeForgotten) {
    CoolDowns downs(10s);
    downs.note_failure(a, start);
    downs.note_failure(b, start);
    downs.forget(a);
    EXPECT_TRUE(downs.may_start(a, start));
    EXPECT_FALSE(downs.may_start(b, start));
    downs.clear();
    EXPECT_TRUE(downs.may_start(b, start));
}

TEST(CoolDowns, AreBounded) {
    CoolDowns downs(10s, 2);
    downs.note_failure(b, start);
    downs.note_failure(a, start + 1s);
    downs.note_failure(c, start + 2s);
    EXPECT_EQ(downs.size(), 2U);
    EXPECT_TRUE(downs.may_start(b, start + 2s)) << "it would have been the first";
    EXPECT_FALSE(downs.may_start(a, start + 2s));
    EXPECT_FALSE(downs.may_start(c, start + 2s));

    downs.note_failure(b, start + 11s);
    EXPECT_EQ(downs.size(), 2U) << "whose pause is over goes first, and no other";
    EXPECT_FALSE(downs.may_start(c, start + 11s));
    EXPECT_FALSE(downs.may_start(b, start + 11s));
}

}  // namespace
}  // namespace knell
