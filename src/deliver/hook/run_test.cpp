#include "deliver/hook/run.hpp"

#include <array>
#include <csignal>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing/marked_process.hpp"

namespace knell {
namespace {

using testing::MarkedProcess;

/// Tests run beside each other, and would find each other's processes.
const std::string node = fmt::format("a node of process {}", ::getpid());

/// Of a daemon that is gone.
HookRun run_of_the_dead() {
    auto run = run_of_ours(node, "ops");
    run.daemon_start_ticks += 1;  // its number was given to us since
    return run;
}

void expect_none() {
    const auto found = find_hook_orphans(node);
    EXPECT_TRUE(found.in_group.empty());
    EXPECT_TRUE(found.away.empty());
}

TEST(HookRun, IsReadAsItWasWritten) {
    const HookRun run{"5d1e0c7a", 4026531836, 4711, 123456789, "ops.1_x-y", 815};
    EXPECT_EQ(parse_hook_run(text_before_group(run) + "0000000815"), run);
    for (const auto* text : {"", "a", "a:1:2:3:ops", "a:1:2:3:ops:", "a:1:2:3:ops:x",
                             "a:x:2:3:ops:4", "a:1:2:3:ops:4:5"}) {
        EXPECT_FALSE(parse_hook_run(text)) << text;
    }
}

TEST(HookOrphans, AreFoundByTheirCookieAndGroup) {
    const MarkedProcess orphan(run_of_the_dead());
    const auto found = find_hook_orphans(node);
    ASSERT_EQ(found.in_group.size(), 1U);
    EXPECT_EQ(found.in_group[0].pid, orphan.pid());
    EXPECT_EQ(found.in_group[0].hook, "ops");
    EXPECT_TRUE(found.away.empty());
}

TEST(HookOrphans, AreNotWhatALivingDaemonRuns) {
    const MarkedProcess child(run_of_ours(node, "ops"));
    expect_none();
}

TEST(HookOrphans, AreNotOfAnotherNodeOrNamespace) {
    auto run = run_of_the_dead();
    run.node = "another node";
    const MarkedProcess of_another(run);
    run = run_of_the_dead();
    run.pid_namespace += 1;
    const MarkedProcess elsewhere(run);
    expect_none();
}

TEST(HookOrphans, AreHeldOnlyIfTheyAreStillWhoWasSeen) {
    const MarkedProcess orphan(run_of_the_dead());
    const auto seen = *read_proc_stat(orphan.pid());
    auto another = seen;
    another.start_ticks -= 1;
    auto elsewhere = seen;
    elsewhere.group += 1;

    EXPECT_TRUE(hold_orphan(orphan.pid(), seen, "ops"));
    EXPECT_FALSE(hold_orphan(orphan.pid(), another, "ops")) << "its number was given anew";
    EXPECT_FALSE(hold_orphan(orphan.pid(), elsewhere, "ops"));
}

TEST(HookOrphans, ThatLeftTheirGroupAreToldApart) {
    const MarkedProcess daemon(run_of_the_dead(), /*group_off=*/-1);
    const auto found = find_hook_orphans(node);
    EXPECT_TRUE(found.in_group.empty());
    ASSERT_EQ(found.away.size(), 1U);
    EXPECT_EQ(found.away[0].pid, daemon.pid());
    EXPECT_EQ(found.away[0].hook, "ops");
}

}  // namespace
}  // namespace knell
