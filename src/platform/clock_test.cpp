#include "platform/clock.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

using namespace std::chrono_literals;

TEST(TimeShift, IsReadFromWhatTheKernelShows) {
    const auto shift =
        parse_time_shift("monotonic           86400         0\nboottime  -3600 500\n");
    EXPECT_EQ(shift.awake, 24h);
    EXPECT_EQ(shift.boot, -1h + 500ns);
    EXPECT_EQ(parse_time_shift("").boot, 0ns);
}

}  // namespace
}  // namespace knell
