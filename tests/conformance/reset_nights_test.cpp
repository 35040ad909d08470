// Nights in which clocks are set: a day is over once, at the right moment.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

constexpr auto key = "agent:main:test:dm:1";
constexpr int gateway = 500;

WallTime wall(std::string_view text) {
    return parse_rfc3339(text).value();
}

/// All clocks go together: nobody sets that of the machine.
Now when(WallTime moment) {
    return at(std::chrono::duration_cast<std::chrono::seconds>(moment - at(0).wall).count());
}

struct Night {
    const char* name;
    const char* zone;
    std::chrono::minutes time_of_day;
    const char* due;
    /// The next one, where the same time comes again within the hour.
    const char* next;
};

class ResetNight : public StoreStory {
  protected:
    void follow(const Night& night) {
        ResetPolicy policy;
        policy.mode = ResetMode::daily;
        policy.at = night.time_of_day;
        policy.zone = TimeZone::find(night.zone).value();
        journal().state.set_reset_policies(
            std::make_shared<const ResetPolicies>(policy, std::vector<ResetOverride>{}));
    }
    bool is_open(const std::string& id) { return !shown(id).end; }
};

INSTANTIATE_TEST_SUITE_P(Stores, ResetNight, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

constexpr std::array nights{
    // The hour is missing: it comes when the clock jumps.
    Night{"b", "Europe/Berlin", 2h + 30min, "2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z"},
    Night{"n", "America/New_York", 2h + 30min, "2027-03-14T07:00:00Z", "2027-03-15T06:30:00Z"},
    Night{"l", "Australia/Lord_Howe", 2h + 15min, "2027-10-02T15:30:00Z", "2027-10-03T15:15:00Z"},
    // The hour is doubled: it comes the first time, and the second time is none.
    Night{"B", "Europe/Berlin", 2h + 30min, "2027-10-31T00:30:00Z", "2027-11-01T01:30:00Z"},
    Night{"N", "America/New_York", 1h + 30min, "2027-11-07T05:30:00Z", "2027-11-08T06:30:00Z"},
    Night{"L", "Australia/Lord_Howe", 1h + 45min, "2027-04-03T14:45:00Z", "2027-04-04T15:15:00Z"},
};

/// Each night by itself, the earliest first: time only goes on.
TEST_P(ResetNight, OfThreeZonesInBothDirections) {
    auto in_order = nights;
    std::ranges::sort(in_order, {}, [](const Night& night) { return wall(night.due); });
    for (const auto& night : in_order) {
        SCOPED_TRACE(fmt::format("{} {}", night.zone, night.due));
        follow(night);
        const auto due = wall(night.due);
        const std::string first = night.name;
        auto talk = journal().one(route(key + first, first, gateway), when(due - 10h));
        ASSERT_TRUE(talk) << talk.error().message;
        journal().tick(when(due - 1s));
        EXPECT_TRUE(is_open(first));
        journal().tick(when(due));
        ASSERT_FALSE(is_open(first));
        EXPECT_EQ(shown(first).end->reason, Reason::daily_reset);
        EXPECT_EQ(shown(first).end->ended_at, due);

        // Whoever talks right behind it has until the next night.
        const auto second = first + first;
        ASSERT_TRUE(journal().one(route(key + first, second, gateway), when(due + 1min)));
        EXPECT_EQ(shown(second).parent_id.text(), first);
        for (auto later = due + 10min; later <= due + 2h; later += 10min) {
            journal().tick(when(later));
        }
        journal().tick(when(wall(night.next) - 1s));
        EXPECT_TRUE(is_open(second));
        journal().tick(when(wall(night.next)));
        EXPECT_FALSE(is_open(second));
    }
    EXPECT_EQ(told(EventType::session_end).size(), 2 * nights.size());
}

/// Down over the night, and up in the hour that comes twice.
TEST_P(ResetNight, OfADaemonThatWasDownIsMadeUpForOnce) {
    const Night night = nights[3];
    follow(night);
    const auto due = wall(night.due);
    ASSERT_TRUE(journal().one(route(key, "a", gateway), when(due - 10h)));
    restart(when(due + 45min));
    follow(night);

    journal().tick(when(due + 45min));

    EXPECT_EQ(shown("a").end->reason, Reason::daily_reset);
    ASSERT_TRUE(journal().one(route(key, "b", gateway), when(due + 46min)));
    journal().tick(when(due + 90min));
    EXPECT_TRUE(is_open("b"));
    EXPECT_EQ(told(EventType::session_end).size(), 1U);
}

}  // namespace
}  // namespace knell::testing
