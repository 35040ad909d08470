#include "platform/local_time.hpp"

#include <cstdlib>
#include <ctime>

#include <gtest/gtest.h>

#include "platform/environment.hpp"

namespace knell {
namespace {

class LocalTime : public ::testing::Test {
  protected:
    ~LocalTime() override { use(before_); }
    static void use(const std::string& zone) {
        zone.empty() ? ::unsetenv("TZ") : ::setenv("TZ", zone.c_str(), 1);
        ::tzset();
    }
    const WallTime time_ = *parse_rfc3339("2026-11-19T23:05:22.120Z");

  private:
    const std::string before_ = environment_variable("TZ");
};

TEST_F(LocalTime, IsShownWithItsZone) {
    use("CET-1CEST,M3.5.0,M10.5.0/3");
    EXPECT_EQ(clock_text(time_, ShownZone::local), "2026-11-20 00:05:22 CET");
    EXPECT_EQ(exact_clock_text(time_, ShownZone::local), "2026-11-20 00:05:22.120 CET");
    EXPECT_EQ(clock_text(*parse_rfc3339("2026-07-01T10:00:00.000Z"), ShownZone::local),
              "2026-07-01 12:00:00 CEST");
}

TEST_F(LocalTime, IsUtcWhereThatIsAskedFor) {
    use("CET-1CEST,M3.5.0,M10.5.0/3");
    EXPECT_EQ(clock_text(time_, ShownZone::utc), "2026-11-19 23:05:22 UTC");
    EXPECT_EQ(exact_clock_text(time_, ShownZone::utc), "2026-11-19 23:05:22.120 UTC");
}

}  // namespace
}  // namespace knell
