#include "activity/evidence_text.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

using namespace std::chrono_literals;

TEST(EvidenceText, SaysHowLongInOneUnit) {
    EXPECT_EQ(lasting_text(-1s), "0 s");
    EXPECT_EQ(lasting_text(59'999ms), "59 s");
    EXPECT_EQ(lasting_text(60s), "1 min");
    EXPECT_EQ(lasting_text(119min), "119 min");
    EXPECT_EQ(lasting_text(2h), "2 h");
    EXPECT_EQ(lasting_text(47h), "47 h");
    EXPECT_EQ(lasting_text(49h), "2 days");
}

TEST(EvidenceText, SaysWhenAsPeopleDo) {
    const auto then = *parse_rfc3339("2026-05-18T14:05:59Z");
    EXPECT_EQ(moment_text(then, then), "14:05 UTC");
    EXPECT_EQ(moment_text(then, then + 23h), "14:05 UTC");
    EXPECT_EQ(moment_text(then, then + 24h), "18 May");
    EXPECT_EQ(moment_text(then, then + 300 * 24h), "18 May 2026");
    EXPECT_EQ(moment_text(then, then - 48h), "18 May 2026") << "the clock was set back";
    EXPECT_EQ(moment_text(*parse_rfc3339("1969-12-31T23:00:00Z"), then), "31 Dec 1969");
}

TEST(EvidenceText, SaysBytesInTwoDigitsOrThree) {
    EXPECT_EQ(bytes_text(0), "0 B");
    EXPECT_EQ(bytes_text(999), "999 B");
    EXPECT_EQ(bytes_text(1500), "1.5 kB");
    EXPECT_EQ(bytes_text(123'456'789), "123 MB");
    EXPECT_EQ(bytes_text(5'000'000'000'000'000), "5000 TB");
}

}  // namespace
}  // namespace knell
