#include "reset/reset_policy.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/names.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;

WallTime at(std::string_view text) {
    return parse_rfc3339(text).value();
}

TEST(ResetPolicy, IsSpelledAsInTheConfig) {
    EXPECT_EQ(name_in(reset_mode_names, ResetMode::both), "both");
    EXPECT_EQ(name_in(on_reset_names, OnReset::stop), "stop");
    EXPECT_EQ(name_in(reset_kind_names, ResetKind::daily), "daily");
}

TEST(ResetPolicy, ByDefaultResetsNothing) {
    const ResetPolicy policy;
    const auto last = at("2026-06-01T12:00:00Z");

    EXPECT_EQ(idle_due(policy, last), std::nullopt);
    EXPECT_EQ(daily_due(policy, last), std::nullopt);
    EXPECT_EQ(next_reset(policy, last), std::nullopt);
}

TEST(ResetPolicy, HasWhatItsModeSays) {
    const auto last = at("2026-06-01T12:00:00Z");
    const auto four = at("2026-06-02T04:00:00Z");

    const ResetPolicy idle{.mode = ResetMode::idle};
    EXPECT_EQ(idle_due(idle, last), last + 24h);
    EXPECT_EQ(daily_due(idle, last), std::nullopt);
    EXPECT_EQ(next_reset(idle, last), (ResetDue{last + 24h, ResetKind::idle}));

    const ResetPolicy daily{.mode = ResetMode::daily};
    EXPECT_EQ(idle_due(daily, last), std::nullopt);
    EXPECT_EQ(daily_due(daily, last), four);
    EXPECT_EQ(next_reset(daily, last), (ResetDue{four, ResetKind::daily}));

    const ResetPolicy both{.mode = ResetMode::both};
    EXPECT_EQ(idle_due(both, last), last + 24h);
    EXPECT_EQ(daily_due(both, last), four);
    EXPECT_EQ(next_reset(both, last), (ResetDue{four, ResetKind::daily}));
}

TEST(ResetPolicy, TheEarlierOfBothComes) {
    const ResetPolicy policy{.mode = ResetMode::both, .idle = 60min, .at = 4h};

    EXPECT_EQ(next_reset(policy, at("2026-06-01T02:59:59Z")),
              (ResetDue{at("2026-06-01T03:59:59Z"), ResetKind::idle}));
    EXPECT_EQ(next_reset(policy, at("2026-06-01T03:00:00Z")),
              (ResetDue{at("2026-06-01T04:00:00Z"), ResetKind::idle}));
    EXPECT_EQ(next_reset(policy, at("2026-06-01T03:00:01Z")),
              (ResetDue{at("2026-06-01T04:00:00Z"), ResetKind::daily}));
    EXPECT_EQ(next_reset(policy, at("2026-06-01T04:00:00Z")),
              (ResetDue{at("2026-06-01T05:00:00Z"), ResetKind::idle}));
}

TEST(ResetPolicy, TheTimeOfDayIsThatOfItsZone) {
    const ResetPolicy policy{
        .mode = ResetMode::daily, .at = 6h + 30min, .zone = TimeZone::find("Asia/Tokyo").value()};

    EXPECT_EQ(daily_due(policy, at("2026-06-01T12:00:00Z")), at("2026-06-01T21:30:00Z"));
}

RC_GTEST_PROP(ResetPolicyProperty, IsDueLaterThanTheLastWordAndTheEarlierFirst, ()) {
    const ResetPolicy policy{.mode = static_cast<ResetMode>(*rc::gen::inRange(0, 4)),
                             .idle = std::chrono::minutes(*rc::gen::inRange(1, 10'000)),
                             .at = std::chrono::minutes(*rc::gen::inRange(0, 24 * 60))};
    const auto last = from_millis(*rc::gen::inRange<std::int64_t>(0, 4'000'000'000'000));

    const auto due = next_reset(policy, last);
    const auto idle = idle_due(policy, last);
    const auto daily = daily_due(policy, last);

    RC_ASSERT(due.has_value() == (idle || daily));
    if (!due) return;
    RC_ASSERT(due->at > last);
    RC_ASSERT(!idle || due->at <= *idle);
    RC_ASSERT(!daily || due->at <= *daily);
    RC_ASSERT(due->at == (due->kind == ResetKind::idle ? idle : daily));
}

}  // namespace
}  // namespace knell
