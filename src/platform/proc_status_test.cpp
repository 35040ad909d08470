#include "platform/proc_status.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "platform/fd.hpp"
#include "platform/pidfd.hpp"

namespace knell {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ProcStatus, GivesTheProcessOfAThreadAndAllItsNames) {
    const auto status = parse_proc_status(
        "Name:\tworker\nUmask:\t0022\nTgid:\t4240\nNgid:\t0\nPid:\t4242\nNStgid:\t4240\t3\n"
        "NSpid:\t4242\t5\t1\nNSpgid:\t4240\t0\n");

    ASSERT_TRUE(status);
    EXPECT_EQ(status->process, 4240);
    EXPECT_THAT(status->pids, ElementsAre(4242, 5, 1));
}

TEST(ProcStatus, GivesTheRealUser) {
    EXPECT_EQ(parse_proc_status("Tgid:\t7\nUid:\t1000\t0\t0\t0\n")->uid, 1000U);
    EXPECT_EQ(parse_proc_status("Tgid:\t7\nUid:\t4294967294\t0\t0\t0\n")->uid, 4294967294U);
    for (const auto* line : {"", "Uid:\n", "Uid:\tx\n", "Uid:\t-1\n", "Uid:\t4294967296\n"}) {
        EXPECT_EQ(parse_proc_status(std::string("Tgid:\t7\n") + line)->uid, std::nullopt) << line;
    }
}

TEST(ProcStatus, AnOldKernelTellsNoOtherNames) {
    const auto status = parse_proc_status("Name:\tsh\nTgid:\t7\nPid:\t7\n");

    ASSERT_TRUE(status);
    EXPECT_THAT(status->pids, IsEmpty());
}

TEST(ProcStatus, WhatIsCutShortIsNothing) {
    EXPECT_FALSE(parse_proc_status(""));
    EXPECT_FALSE(parse_proc_status("Name:\tsh\nTgid:\t"));
    EXPECT_FALSE(parse_proc_status("Tgid:\tx\n"));
    EXPECT_FALSE(parse_proc_status("Tgid:\t0\n"));
    EXPECT_TRUE(parse_proc_status("Tgid:\t7"));
}

TEST(ProcStatus, OfOurselves) {
    const auto status = read_proc_status(getpid());

    ASSERT_TRUE(status);
    EXPECT_EQ(status->process, getpid());
    EXPECT_NE(own_pid_namespace(), 0U);
    EXPECT_TRUE(has_living_thread(getpid()));
    ASSERT_TRUE(proc_counts_as_we_do());
    EXPECT_EQ(pid_in_proc(getpid()), getpid());
    const Fd pidfd{pidfd_open(getpid(), 0)};
    EXPECT_EQ(pid_behind(pidfd.get()), getpid());
    EXPECT_EQ(pid_behind(-1), 0);
}

}  // namespace
}  // namespace knell
