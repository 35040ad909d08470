#include "cli/relative_time.hpp"

#include <gtest/gtest.h>

namespace knell::cli {
namespace {

using namespace std::chrono_literals;

const WallTime now = *parse_rfc3339("2026-11-15T12:00:00.000Z");

TEST(RelativeTime, GivesOneNumberAndItsUnit) {
    EXPECT_EQ(relative_time(now, now), "just now");
    EXPECT_EQ(relative_time(now - 999ms, now), "just now");
    EXPECT_EQ(relative_time(now - 1s, now), "1s ago");
    EXPECT_EQ(relative_time(now - 59s, now), "59s ago");
    EXPECT_EQ(relative_time(now - 60s, now), "1m ago");
    EXPECT_EQ(relative_time(now - 59min, now), "59m ago");
    EXPECT_EQ(relative_time(now - 60min, now), "1h ago");
    EXPECT_EQ(relative_time(now - 47h, now), "47h ago");
    EXPECT_EQ(relative_time(now - 48h, now), "2d ago");
    EXPECT_EQ(relative_time(now - 59 * 24h, now), "59d ago");
}

TEST(RelativeTime, LongAgoIsADate) {
    EXPECT_EQ(relative_time(now - 60 * 24h, now), "2026-09-16");
}

TEST(RelativeTime, AClockALittleAheadIsNotTheFuture) {
    EXPECT_EQ(relative_time(now + 2s, now), "just now");
    EXPECT_EQ(relative_time(now + 5min, now), "in 5m");
}

TEST(RelativeTime, ReadsTimesAsResultsHoldThem) {
    EXPECT_EQ(relative_time("2026-11-15T11:57:00.000Z", now), "3m ago");
    EXPECT_EQ(relative_time("", now), "");
    EXPECT_EQ(relative_time("yesterday", now), "");
}

TEST(FormatDuration, GivesTheTwoLargestUnits) {
    EXPECT_EQ(format_duration(0s), "0s");
    EXPECT_EQ(format_duration(59s), "59s");
    EXPECT_EQ(format_duration(185s), "3m 5s");
    EXPECT_EQ(format_duration(2h + 4min + 9s), "2h 4m");
    EXPECT_EQ(format_duration(121h), "5d 1h");
}

TEST(AgeText, LeavesOutWhatTheColumnSays) {
    const auto noon = *parse_rfc3339("2026-11-15T12:00:00.000Z");
    EXPECT_EQ(age_text("2026-11-15T11:57:00.000Z", noon), "3m");
    EXPECT_EQ(age_text("2026-11-15T12:00:00.000Z", noon), "0s");
    EXPECT_EQ(age_text("2026-11-15T14:00:00.000Z", noon), "in 2h");
    EXPECT_EQ(age_text("2026-01-15T14:00:00.000Z", noon), "2026-01-15");
    EXPECT_EQ(age_text("", noon), "");
}

}  // namespace
}  // namespace knell::cli
