#include "base/time.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace knell {
namespace {

TEST(Rfc3339, HasMillisecondsAndUtc) {
    EXPECT_EQ(format_rfc3339(from_millis(0)), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(format_rfc3339(from_millis(1'794'714'745'001)), "2026-11-15T03:52:25.001Z");
    EXPECT_EQ(format_rfc3339(from_millis(-1)), "1969-12-31T23:59:59.999Z");
}

RC_GTEST_PROP(Rfc3339, ReadsBackWhatItWrites, ()) {
    const auto time = from_millis(*rc::gen::inRange<std::int64_t>(0, 4'102'444'800'000));
    RC_ASSERT(parse_rfc3339(format_rfc3339(time)) == time);
}

TEST(Rfc3339, RefusesWhatIsNotATime) {
    for (const auto* text :
         {"", "2026-11-15", "2026-13-15T03:52:25Z", "2026-02-30T03:52:25Z", "2026-11-15T24:52:25Z",
          "2026-11-15T03:52:25+01:00", "2026-11-15T03:52:25.1Z", "2026-11-15T03:52:-1Z"}) {
        EXPECT_FALSE(parse_rfc3339(text)) << text;
    }
    EXPECT_TRUE(parse_rfc3339("2026-11-15T03:52:25Z"));
}

TEST(Rfc3339, OfOthersHasOffsetsAndAnyFraction) {
    const auto at = parse_rfc3339("2026-11-15T03:52:25.120Z");
    for (const auto* text : {"2026-11-15T03:52:25.12Z", "2026-11-15T03:52:25.1200009z",
                             "2026-11-15T05:22:25.12+01:30", "2026-11-14T22:52:25.120-05:00"}) {
        EXPECT_EQ(parse_any_rfc3339(text), at) << text;
    }
    for (const auto* text :
         {"", "2026-11-15", "2026-11-15T03:52:25", "2026-11-15T03:52:25.Z", "2026-11-15T03:52:25+1",
          "2026-11-15T03:52:25.1234567890Z", "2026-11-15T03:52:25+24:00",
          "2026-11-15T03:52:25+01:60", "2026-11-15T03:52:25+01:00Z", "2026-11-15T03:52:25+-1:00",
          "2026-13-15T03:52:25+01:00"}) {
        EXPECT_FALSE(parse_any_rfc3339(text)) << text;
    }
}

}  // namespace
}  // namespace knell
