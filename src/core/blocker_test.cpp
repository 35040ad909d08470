#include "core/blocker.hpp"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace knell {
namespace {

/// Any bytes at all, with those that need care more often than chance would have them.
std::string any_text() {
    return *rc::gen::container<std::string>(rc::gen::oneOf(
        rc::gen::element('\t', '\n', '\\', '\0', 'n', '0', '\xff'), rc::gen::arbitrary<char>()));
}

std::optional<WallTime> maybe_time() {
    if (*rc::gen::arbitrary<bool>()) return std::nullopt;
    return from_millis(*rc::gen::arbitrary<std::int64_t>());
}

RC_GTEST_PROP(BlockerLines, ComeBackAsTheyWere, ()) {
    std::vector<Blocker> blockers(*rc::gen::inRange<std::size_t>(0, 4));
    for (auto& blocker : blockers) {
        blocker.process_id = ProcessId(any_text());
        blocker.pid = *rc::gen::arbitrary<std::int32_t>();
        blocker.command = any_text();
        blocker.started_at = from_millis(*rc::gen::arbitrary<std::int64_t>());
        blocker.activity = static_cast<ProcessActivity>(
            *rc::gen::inRange<std::size_t>(0, process_activity_names.size()));
        blocker.vouched_until = maybe_time();
        blocker.until = maybe_time();
    }

    RC_ASSERT(blockers_from_lines(to_lines(blockers)) == blockers);
}

TEST(BlockerLines, OfNothingAreNone) {
    EXPECT_EQ(to_lines(std::vector<Blocker>{}), "");
    EXPECT_TRUE(blockers_from_lines("").empty());
    EXPECT_EQ(blockers_from_lines(to_lines(std::vector<Blocker>(1))), std::vector<Blocker>(1));
}

TEST(BlockerLines, CannotBeForgedByACommandLine) {
    Blocker blocker;
    blocker.command = "evil\t7\twaiting\t\t\np-2\t9";

    const auto lines = to_lines({blocker});

    EXPECT_EQ(std::ranges::count(lines, '\n'), 1);
    EXPECT_EQ(blockers_from_lines(lines), std::vector{blocker});
}

TEST(BlockerLines, ThatAnotherProgramWroteAreReadAsFarAsTheyGo) {
    const auto blockers = blockers_from_lines("p-1\t7\np-2\tx\tc\\\ty\tasleep\t5");

    ASSERT_EQ(blockers.size(), 2U);
    EXPECT_EQ(blockers[0].process_id.text(), "p-1");
    EXPECT_EQ(blockers[0].pid, 7);
    EXPECT_FALSE(blockers[0].until);
    EXPECT_EQ(blockers[1].command, "c\\");
    EXPECT_EQ(blockers[1].activity, ProcessActivity::working) << "nothing may be ended on it";
    EXPECT_EQ(blockers[1].vouched_until, from_millis(5));
}

}  // namespace
}  // namespace knell
