#include "watch/oom_evidence.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

using namespace std::chrono_literals;

TEST(OomEvidence, IsFoundForExactlyThatPid) {
    const auto* global =
        "3,900,5140900,-;Out of memory: Killed process 123 (node) total-vm:1kB\n X=1";
    const auto* cgroup =
        "3,901,777,-;Memory cgroup out of memory: Killed process 45 (a (b) c) total-vm:2kB";

    const auto found = find_oom_kill(global, 123);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->logged_at, 5140900us);
    EXPECT_EQ(found->text, "Out of memory: Killed process 123 (node) total-vm:1kB");
    EXPECT_TRUE(find_oom_kill(cgroup, 45));
    EXPECT_FALSE(find_oom_kill(global, 12));
    EXPECT_FALSE(find_oom_kill(global, 1234));
    EXPECT_FALSE(find_oom_kill(global, 23));
}

TEST(OomEvidence, OtherTalkOfProcessesIsNone) {
    EXPECT_FALSE(find_oom_kill("6,1,2,-;Killed process 123 (node) by hand", 123));
    EXPECT_FALSE(find_oom_kill("6,1,2,-;node invoked oom-killer: gfp_mask=0x1", 123));
    EXPECT_FALSE(find_oom_kill("", 123));
    EXPECT_TRUE(find_oom_kill("Out of memory: Killed process 1 (a)", 1)) << "without a head";
}

TEST(OomEvidence, ThereIsNoneForAProcessOfAnotherPidNamespace) {
    // The log names pids of the first namespace: here they would be somebody else's.
    EXPECT_FALSE(oom_evidence_for({.pid = 1, .start_ticks = 0, .pid_namespace = 7, .boot_id = {}}));
}

}  // namespace
}  // namespace knell
