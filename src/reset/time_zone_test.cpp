#include "reset/time_zone.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace knell {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

WallTime at(std::string_view text) {
    return parse_rfc3339(text).value();
}

TimeZone zone(std::string_view name) {
    return TimeZone::find(name).value();
}

/// The next moments of that time of day, from `after` on.
std::vector<std::string> passes(std::string_view name, std::chrono::minutes time_of_day,
                                std::string_view after, int count) {
    std::vector<std::string> texts;
    auto moment = at(after);
    for (int i = 0; i < count; ++i) {
        moment = zone(name).next(time_of_day, moment);
        auto text = format_rfc3339(moment);
        texts.push_back(text.substr(0, text.find(".000")));
    }
    return texts;
}

TEST(TimeZone, IsUtcUnlessFound) {
    EXPECT_EQ(TimeZone().name(), "UTC");
    EXPECT_EQ(zone("UTC"), TimeZone());
    EXPECT_EQ(zone("Europe/Berlin").name(), "Europe/Berlin");
    EXPECT_EQ(zone("Europe/Berlin"), zone("Europe/Berlin"));
    EXPECT_NE(zone("Europe/Berlin"), zone("Europe/Paris"));
    EXPECT_NE(zone("Europe/Berlin"), TimeZone());
}

TEST(TimeZone, IsFoundByAWholeNameAlone) {
    for (const auto* name :
         {"", "Berlin", "Europe", "Europe/", "europe/berlin", "localtime", "../../../etc/passwd",
          "/usr/share/zoneinfo/Europe/Berlin", "right/Europe/Berlin", "CET-1CEST"}) {
        const auto found = TimeZone::find(name);
        ASSERT_FALSE(found) << name;
        EXPECT_EQ(found.error().code, ErrorCode::not_found);
        EXPECT_EQ(found.error().message, "there is no such time zone");
    }
    EXPECT_THAT(TimeZone::names(), Contains("Europe/Berlin"));
    EXPECT_THAT(TimeZone::names(), Not(Contains("localtime")));
    for (const auto& name : TimeZone::names()) EXPECT_TRUE(TimeZone::find(name)) << name;
}

TEST(TimeZone, PassesATimeOnceADay) {
    EXPECT_THAT(passes("UTC", 4h, "2026-01-31T04:00:00Z", 2),
                ElementsAre("2026-02-01T04:00:00", "2026-02-02T04:00:00"));
    EXPECT_THAT(passes("Asia/Kathmandu", 4h, "2026-01-31T12:00:00Z", 1),
                ElementsAre("2026-01-31T22:15:00"));
    EXPECT_THAT(passes("Pacific/Kiritimati", 0min, "2026-01-31T12:00:00Z", 1),
                ElementsAre("2026-02-01T10:00:00"));
}

TEST(TimeZone, AMomentIsNotAfterItself) {
    const auto four = at("2026-06-01T02:00:00Z");  // in Berlin
    EXPECT_EQ(zone("Europe/Berlin").next(4h, four - 1ms), four);
    EXPECT_EQ(zone("Europe/Berlin").next(4h, four), four + 24h);
    EXPECT_EQ(zone("Europe/Berlin").next(4h, four + 1ms), four + 24h);
}

TEST(TimeZone, AnHourThatANightSkipsComesAtTheJump) {
    // 02:00 to 03:00.
    EXPECT_THAT(passes("Europe/Berlin", 2h + 30min, "2026-03-28T00:00:00Z", 3),
                ElementsAre("2026-03-28T01:30:00", "2026-03-29T01:00:00", "2026-03-30T00:30:00"));
    EXPECT_THAT(passes("Europe/Berlin", 2h, "2026-03-28T12:00:00Z", 1),
                ElementsAre("2026-03-29T01:00:00"));
    EXPECT_THAT(passes("Europe/Berlin", 3h, "2026-03-28T12:00:00Z", 2),
                ElementsAre("2026-03-29T01:00:00", "2026-03-30T01:00:00"));
    EXPECT_THAT(passes("America/New_York", 2h + 59min, "2026-03-07T00:00:00Z", 3),
                ElementsAre("2026-03-07T07:59:00", "2026-03-08T07:00:00", "2026-03-09T06:59:00"));
    // 02:00 to 02:30.
    EXPECT_THAT(passes("Australia/Lord_Howe", 2h + 15min, "2026-10-02T12:00:00Z", 3),
                ElementsAre("2026-10-02T15:45:00", "2026-10-03T15:30:00", "2026-10-04T15:15:00"));
    EXPECT_THAT(passes("Australia/Lord_Howe", 2h + 45min, "2026-10-03T12:00:00Z", 1),
                ElementsAre("2026-10-03T15:45:00"));
}

TEST(TimeZone, AnHourThatANightHasTwiceComesTheFirstTime) {
    // 03:00 to 02:00.
    EXPECT_THAT(passes("Europe/Berlin", 2h + 30min, "2026-10-24T00:00:00Z", 3),
                ElementsAre("2026-10-24T00:30:00", "2026-10-25T00:30:00", "2026-10-26T01:30:00"));
    EXPECT_THAT(passes("Europe/Berlin", 2h, "2026-10-24T12:00:00Z", 2),
                ElementsAre("2026-10-25T00:00:00", "2026-10-26T01:00:00"));
    EXPECT_THAT(passes("Europe/Berlin", 3h, "2026-10-24T12:00:00Z", 2),
                ElementsAre("2026-10-25T02:00:00", "2026-10-26T02:00:00"));
    // 02:00 to 01:00.
    EXPECT_THAT(passes("America/New_York", 1h, "2026-10-31T00:00:00Z", 3),
                ElementsAre("2026-10-31T05:00:00", "2026-11-01T05:00:00", "2026-11-02T06:00:00"));
    // 02:00 to 01:30.
    EXPECT_THAT(passes("Australia/Lord_Howe", 1h + 45min, "2026-04-03T12:00:00Z", 3),
                ElementsAre("2026-04-03T14:45:00", "2026-04-04T14:45:00", "2026-04-05T15:15:00"));
}

/// Whoever asks between the two has missed the one that counts.
TEST(TimeZone, TheSecondTimeIsNoneEvenToWhoAsksInBetween) {
    EXPECT_THAT(passes("Europe/Berlin", 2h + 30min, "2026-10-25T01:00:00Z", 1),
                ElementsAre("2026-10-26T01:30:00"));
    EXPECT_THAT(passes("Europe/Berlin", 2h + 30min, "2026-10-25T01:15:00Z", 1),
                ElementsAre("2026-10-26T01:30:00"));
    EXPECT_THAT(passes("Europe/Berlin", 3h, "2026-10-25T01:15:00Z", 1),
                ElementsAre("2026-10-25T02:00:00"));
}

TEST(TimeZone, AChangeAtMidnightIsNoOtherThanAnother) {
    // 00:00 to 01:00.
    EXPECT_THAT(passes("America/Santiago", 0min, "2026-09-05T00:00:00Z", 3),
                ElementsAre("2026-09-05T04:00:00", "2026-09-06T04:00:00", "2026-09-07T03:00:00"));
    EXPECT_THAT(passes("Africa/Cairo", 30min, "2026-04-23T12:00:00Z", 2),
                ElementsAre("2026-04-23T22:00:00", "2026-04-24T21:30:00"));
    // 24:00 to 23:00 of the same day: midnight comes once, an hour later.
    EXPECT_THAT(passes("America/Santiago", 0min, "2026-04-04T12:00:00Z", 2),
                ElementsAre("2026-04-05T04:00:00", "2026-04-06T04:00:00"));
    EXPECT_THAT(passes("America/Santiago", 23h + 30min, "2026-04-04T12:00:00Z", 2),
                ElementsAre("2026-04-05T02:30:00", "2026-04-06T03:30:00"));
    EXPECT_THAT(passes("America/Santiago", 23h + 30min, "2026-04-05T03:10:00Z", 1),
                ElementsAre("2026-04-06T03:30:00"));
}

/// 00:01 to 23:01 of the day before: that midnight has been.
TEST(TimeZone, ADayThatBeginsTwiceHasOneMidnight) {
    EXPECT_THAT(passes("America/St_Johns", 0min, "2010-11-06T12:00:00Z", 2),
                ElementsAre("2010-11-07T02:30:00", "2010-11-08T03:30:00"));
    EXPECT_THAT(passes("America/St_Johns", 0min, "2010-11-07T02:45:00Z", 1),
                ElementsAre("2010-11-08T03:30:00"));
}

/// Samoa had no 30 December in 2011.
TEST(TimeZone, ADayThatIsSkippedComesAtTheJump) {
    EXPECT_THAT(passes("Pacific/Apia", 4h, "2011-12-29T00:00:00Z", 3),
                ElementsAre("2011-12-29T14:00:00", "2011-12-30T10:00:00", "2011-12-30T14:00:00"));
    EXPECT_THAT(passes("Pacific/Apia", 0min, "2011-12-29T12:00:00Z", 2),
                ElementsAre("2011-12-30T10:00:00", "2011-12-31T10:00:00"));
}

/// Alaska had its 18 October of 1867 twice, as it went from Russia's side of the date line.
TEST(TimeZone, ADayThatIsRepeatedComesOnce) {
    const auto juneau = zone("America/Juneau");
    auto moment = at("1867-10-16T00:00:00Z");
    std::vector<std::chrono::milliseconds> gaps;
    for (int i = 0; i < 6; ++i) {
        const auto next = juneau.next(12h, moment);
        gaps.push_back(next - moment);
        moment = next;
    }
    gaps.erase(gaps.begin());
    EXPECT_THAT(gaps, Contains(48h).Times(1));
    EXPECT_THAT(gaps, Contains(24h).Times(4));
}

TEST(TimeZone, HasYearsFarAway) {
    EXPECT_THAT(passes("UTC", 4h, "9999-12-30T12:00:00Z", 1), ElementsAre("9999-12-31T04:00:00"));
    EXPECT_THAT(passes("Europe/Berlin", 4h, "1800-01-01T00:00:00Z", 1),
                ElementsAre("1800-01-01T03:06:32"));  // by the sun
    EXPECT_THAT(passes("Europe/Berlin", 4h, "9999-12-30T12:00:00Z", 1),
                ElementsAre("9999-12-31T03:00:00"));
    for (const auto* name : {"UTC", "Europe/Berlin", "Pacific/Apia"}) {
        for (const auto millis :
             {std::int64_t{-9'000'000'000'000'000'000}, std::int64_t{9'000'000'000'000'000'000}}) {
            const auto after = from_millis(millis);
            const auto next = zone(name).next(4h, after);
            EXPECT_GT(next, after) << name;
            EXPECT_LE(next, after + 24h) << name;
        }
    }
}

constexpr std::array zones{"UTC",
                           "Europe/Berlin",
                           "America/New_York",
                           "Australia/Lord_Howe",
                           "America/Santiago",
                           "Africa/Cairo",
                           "America/St_Johns",
                           "Asia/Tehran",
                           "Asia/Kathmandu",
                           "Africa/Casablanca",
                           "Antarctica/Troll",
                           "Pacific/Chatham"};

// ---- as the C library has it -------------------------------------------------------------------

/// What clocks show in a zone by the C library, which reads the same files by itself.
class CLibraryZone {
  public:
    explicit CLibraryZone(const char* name) {
        if (const char* before = std::getenv("TZ")) before_ = before;
        setenv("TZ", name, 1);
        tzset();
    }
    ~CLibraryZone() {
        before_ ? setenv("TZ", before_->c_str(), 1) : unsetenv("TZ");
        tzset();
    }
    CLibraryZone(const CLibraryZone&) = delete;
    CLibraryZone& operator=(const CLibraryZone&) = delete;

    static std::int64_t offset(std::int64_t moment) {
        const std::time_t time = moment;
        std::tm parts{};
        localtime_r(&time, &parts);
        return parts.tm_gmtoff;
    }

  private:
    std::optional<std::string> before_;
};

constexpr std::int64_t minute = 60;
constexpr std::int64_t day = 24 * 60 * minute;

/// The moments of three years at which an offset changes; to the hour before, which is enough.
std::vector<std::int64_t> changes_of_offset() {
    std::vector<std::int64_t> changes;
    constexpr std::int64_t hour = 60 * minute;
    constexpr std::int64_t start = 1'735'689'600;  // 2025-01-01
    for (auto moment = start; moment < start + 3 * 365 * day; moment += hour) {
        if (CLibraryZone::offset(moment) != CLibraryZone::offset(moment + hour)) {
            changes.push_back(moment);
        }
    }
    return changes;
}

/// What the wall shows, minute by minute, from four days before a change to four days after it.
struct Minutes {
    std::int64_t first = 0;
    std::vector<std::int64_t> walls;
};

Minutes minutes_around(std::int64_t change) {
    Minutes minutes{.first = change - 4 * day, .walls = {}};
    for (auto moment = minutes.first; moment < change + 4 * day; moment += minute) {
        minutes.walls.push_back(moment + CLibraryZone::offset(moment));
    }
    return minutes;
}

/// When the wall comes to show, or jumps over, what it has not shown before.
std::vector<std::int64_t> passes_in(const Minutes& minutes, std::int64_t time_of_day) {
    std::vector<std::int64_t> found;
    auto shown = minutes.walls.front();
    auto moment = minutes.first;
    for (const auto wall : minutes.walls) {
        // The last such time up to `wall`, if it was not shown before.
        if (wall > shown && wall - (wall - time_of_day) % day > shown) found.push_back(moment);
        shown = std::max(shown, wall);
        moment += minute;
    }
    return found;
}

TEST(TimeZone, AgreesWithTheCLibraryOnEveryNightThatChanges) {
    std::size_t nights = 0;
    for (const auto* name : zones) {
        const CLibraryZone reference(name);
        const auto tried = zone(name);
        for (const auto change : changes_of_offset()) {
            ++nights;
            const auto minutes = minutes_around(change);
            for (std::int64_t time_of_day = 0; time_of_day < day; time_of_day += 75 * minute) {
                const auto expected = passes_in(minutes, time_of_day);
                for (auto after = change - 2 * day; after < change + 2 * day;
                     after += 20 * minute) {
                    const auto next = std::ranges::upper_bound(expected, after);
                    ASSERT_NE(next, expected.end());
                    ASSERT_EQ(to_millis(tried.next(std::chrono::minutes{time_of_day / minute},
                                                   from_millis(after * 1000))),
                              *next * 1000)
                        << name << " after " << format_rfc3339(from_millis(after * 1000))
                        << ", minute " << time_of_day / minute << " of the day";
                }
            }
        }
    }
    EXPECT_GT(nights, 40U);
}

// ---- whatever the zone, the time and the moment -----------------------------------------------

struct Question {
    TimeZone zone;
    std::chrono::minutes time_of_day;
    WallTime after;
};

Question any_question() {
    const auto name = *rc::gen::elementOf(zones);
    const auto minutes = *rc::gen::inRange(0, 24 * 60);
    // 1980 to 2040, to the millisecond.
    const auto millis = *rc::gen::inRange<std::int64_t>(315'532'800'000, 2'208'988'800'000);
    return {zone(name), std::chrono::minutes{minutes}, from_millis(millis)};
}

RC_GTEST_PROP(TimeZoneProperty, NextIsLaterAndWithinADayOrSo, ()) {
    const auto [zone, time_of_day, after] = any_question();
    const auto next = zone.next(time_of_day, after);
    RC_ASSERT(next > after);
    RC_ASSERT(next <= after + 27h);
}

RC_GTEST_PROP(TimeZoneProperty, TwoAreAboutADayApart, ()) {
    const auto [zone, time_of_day, after] = any_question();
    const auto first = zone.next(time_of_day, after);
    const auto gap = zone.next(time_of_day, first) - first;
    RC_ASSERT(gap >= 21h);
    RC_ASSERT(gap <= 27h);
}

RC_GTEST_PROP(TimeZoneProperty, NextIsTheSameUntilItHasCome, ()) {
    const auto [zone, time_of_day, after] = any_question();
    const auto next = zone.next(time_of_day, after);
    const auto later = after + std::chrono::milliseconds(
                                   *rc::gen::inRange<std::int64_t>(0, (next - after).count()));
    RC_ASSERT(zone.next(time_of_day, later) == next);
    RC_ASSERT(zone.next(time_of_day, next - 1ms) == next);
}

RC_GTEST_PROP(TimeZoneProperty, NextNeverGoesBack, ()) {
    const auto [zone, time_of_day, after] = any_question();
    const auto later = after + std::chrono::minutes(*rc::gen::inRange(0, 3 * 24 * 60));
    RC_ASSERT(zone.next(time_of_day, later) >= zone.next(time_of_day, after));
}

}  // namespace
}  // namespace knell
