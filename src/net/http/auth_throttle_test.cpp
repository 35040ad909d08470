#include "net/http/auth_throttle.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace knell::net::http {
namespace {

using namespace std::chrono_literals;

SteadyTime at(std::chrono::nanoseconds since) {
    return SteadyTime{since};
}

TEST(AuthThrottle, SlowsDownOneFailureAfterTheOther) {
    AuthThrottle throttle(10);
    for (const auto expected : {0ms, 0ms, 0ms, 100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms}) {
        EXPECT_EQ(throttle.failed("10.0.0.1", at(1s)), expected);
    }
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(throttle.failed("10.0.0.1", at(1s)), 5s);
}

TEST(AuthThrottle, DoesNotSlowDownOthers) {
    AuthThrottle throttle(10);
    for (int i = 0; i < 100; ++i) throttle.failed("10.0.0.1", at(1s));

    EXPECT_EQ(throttle.failed("10.0.0.2", at(1s)), 0ms);
}

TEST(AuthThrottle, ForgetsAfterAQuietWhile) {
    AuthThrottle throttle(10);
    for (int i = 0; i < 100; ++i) throttle.failed("10.0.0.1", at(1s));

    EXPECT_EQ(throttle.failed("10.0.0.1", at(10min)), 5s);
    EXPECT_EQ(throttle.failed("10.0.0.1", at(21min)), 0ms);
}

TEST(AuthThrottle, RemembersSoManyAddressesAndThoseThatFailedLast) {
    AuthThrottle throttle(3);
    for (int i = 0; i < 5; ++i) throttle.failed("guesser", at(1s));
    for (int i = 0; i < 100; ++i) {
        throttle.failed(fmt::format("10.0.0.{}", i), at(1s));
        EXPECT_GT(throttle.failed("guesser", at(1s)), 100ms) << i;
        EXPECT_LE(throttle.size(), 3U);
    }
    for (int i = 0; i < 3; ++i) throttle.failed(fmt::format("10.1.0.{}", i), at(1s));
    EXPECT_EQ(throttle.failed("guesser", at(1s)), 0ms) << "it was quiet the longest";
}

}  // namespace
}  // namespace knell::net::http
