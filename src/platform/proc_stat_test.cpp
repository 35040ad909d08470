#include "platform/proc_stat.hpp"

#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace knell {
namespace {

const std::string rest = " S 77 4242 4242 0 -1 4194560 109 0 0 0 1 2 0 0 20 0 1 0 987654 2703360";
const ProcStat expected{.parent = 77,
                        .group = 4242,
                        .session = 4242,
                        .start_ticks = 987654,
                        .state = 'S',
                        .exit_status = 0,
                        .foreground_group = -1,
                        .cpu_ticks = 3,
                        .threads = 1};

TEST(ParseProcStat, ReadsStateParentAndStartTicks) {
    EXPECT_EQ(parse_proc_stat("4242 (sleep)" + rest), expected);
}

TEST(ParseProcStat, ANameMayHoldBracketsAndSpaces) {
    EXPECT_EQ(parse_proc_stat("4242 (a) Z 1 (b c)" + rest), expected);
}

TEST(ParseProcStat, AZombieIsDead) {
    const auto stat = parse_proc_stat("4242 (sleep) Z" + rest.substr(2));

    ASSERT_TRUE(stat);
    EXPECT_TRUE(stat->is_dead());
}

TEST(ParseProcStat, WhatIsNotAStatLineGivesNothing) {
    EXPECT_FALSE(parse_proc_stat(""));
    EXPECT_FALSE(parse_proc_stat("4242 (sleep)"));
    EXPECT_FALSE(parse_proc_stat("4242 (sleep) S 77 1 2 3"));
    EXPECT_FALSE(parse_proc_stat("4242 (sleep) S x 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2"));
}

TEST(ReadProcStat, FindsThisProcess) {
    const auto stat = read_proc_stat(::getpid());

    ASSERT_TRUE(stat);
    EXPECT_EQ(stat->parent, ::getppid());
    EXPECT_GT(stat->start_ticks, 0U);
    EXPECT_FALSE(stat->is_dead());
}

}  // namespace
}  // namespace knell
