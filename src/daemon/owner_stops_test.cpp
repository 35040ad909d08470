#include "daemon/owner_stops.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

TEST(OwnerStops, TheRecordSaysWhatACommandEndedAfter) {
    EXPECT_EQ(after("signal 15 (SIGTERM)", "knell stop"), "signal 15 (SIGTERM) after knell stop");
    EXPECT_EQ(after("", "knell stop"), "after knell stop");
    EXPECT_EQ(after("exit 0 after SIGTERM", "knell stop"), "exit 0 after SIGTERM, knell stop");
}

}  // namespace
}  // namespace knell
