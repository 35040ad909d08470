#include "core/leftover.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

TEST(LeftoverLines, ComeBackAsTheyWere) {
    Leftover one{{.pid = 42, .start_ticks = 7, .pid_namespace = 3, .boot_id = "b-1"},
                 "cookie",
                 "sleep 9",
                 Fate::killed};
    Leftover two = one;
    two.process.boot_id.clear();
    two.command.clear();
    two.fate = Fate::unknown;
    two.process_id = ProcessId::from_bits(7);
    const std::vector leftovers{one, two};

    EXPECT_EQ(leftovers_from_lines(to_lines(leftovers)), leftovers);
}

TEST(LeftoverLines, OfAnOlderVersionSayNothingOfTheFate) {
    const auto leftovers = leftovers_from_lines("42\t7\tcookie\tsleep 9\n");

    ASSERT_EQ(leftovers.size(), 1U);
    EXPECT_EQ(leftovers[0].process.pid, 42);
    EXPECT_EQ(leftovers[0].command, "sleep 9");
    EXPECT_EQ(leftovers[0].fate, Fate::unknown);
    EXPECT_FALSE(has_unsettled(leftovers));
}

TEST(LeftoverLines, OfAVersionWithoutBackgroundProcessesNameNone) {
    const auto leftovers = leftovers_from_lines("42\t7\tcookie\tsleep 9\tkilled\t3\tb-1\n");

    ASSERT_EQ(leftovers.size(), 1U);
    EXPECT_EQ(leftovers[0].process.boot_id, "b-1");
    EXPECT_TRUE(leftovers[0].process_id.empty());
}

TEST(LeftoverLines, CannotBeForgedByACommandLine) {
    Leftover leftover;
    leftover.command = "evil\tstopping\t1\tb\n9\t9";
    leftover.fate = Fate::left;

    const auto back = leftovers_from_lines(to_lines({leftover}));

    ASSERT_EQ(back.size(), 1U);
    EXPECT_EQ(back[0].fate, Fate::left);
}

}  // namespace
}  // namespace knell
