#include "platform/marked_run.hpp"

#include <array>
#include <csignal>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing/marked_process.hpp"

namespace knell {
namespace {

using testing::MarkedProcess;

constexpr std::string_view variable = "KNELL_TRIAL_RUN";
/// Tests run beside each other, and would find each other's processes.
const std::string node = fmt::format("a node of process {}", ::getpid());

/// Of a daemon that is gone.
MarkedRun run_of_the_dead() {
    auto run = run_of_ours(node, "ops");
    run.daemon_start_ticks += 1;  // its number was given to us since
    return run;
}

void expect_none() {
    const auto found = find_marked_orphans(variable, node);
    EXPECT_TRUE(found.in_group.empty());
    EXPECT_TRUE(found.away.empty());
}

TEST(MarkedRun, IsReadAsItWasWritten) {
    const MarkedRun run{"5d1e0c7a", 4026531836, 4711, 123456789, "ops.1_x-y", 815};
    EXPECT_EQ(parse_marked_run(text_before_group(run) + "0000000815"), run);
    for (const auto* text : {"", "a", "a:1:2:3:ops", "a:1:2:3:ops:", "a:1:2:3:ops:x",
                             "a:x:2:3:ops:4", "a:1:2:3:ops:4:5"}) {
        EXPECT_FALSE(parse_marked_run(text)) << text;
    }
}

TEST(MarkedOrphans, AreFoundByTheirMarkAndGroup) {
    const MarkedProcess orphan(variable, run_of_the_dead());
    const auto found = find_marked_orphans(variable, node);
    ASSERT_EQ(found.in_group.size(), 1U);
    EXPECT_EQ(found.in_group[0].pid, orphan.pid());
    EXPECT_EQ(found.in_group[0].name, "ops");
    EXPECT_TRUE(found.away.empty());
}

TEST(MarkedOrphans, AreNotWhatALivingDaemonRuns) {
    const MarkedProcess child(variable, run_of_ours(node, "ops"));
    expect_none();
}

TEST(MarkedOrphans, AreNotOfAnotherNodeOrNamespace) {
    auto run = run_of_the_dead();
    run.node = "another node";
    const MarkedProcess of_another(variable, run);
    run = run_of_the_dead();
    run.pid_namespace += 1;
    const MarkedProcess elsewhere(variable, run);
    expect_none();
}

TEST(MarkedOrphans, AreNotOfAnotherKindOfProgram) {
    const MarkedProcess of_another("KNELL_TRIAL_RUN_TOO", run_of_the_dead());
    expect_none();
}

TEST(MarkedOrphans, AreStoppedAndToldOnce) {
    MarkedProcess orphan(variable, run_of_the_dead());
    const MarkedProcess away(variable, run_of_the_dead(), /*group_off=*/-1);
    using ::testing::ElementsAre;
    const auto told = stop_marked_orphans(variable, node);
    EXPECT_THAT(told.stopped, ElementsAre(std::pair("ops", orphan.pid())));
    EXPECT_THAT(told.left_alone, ElementsAre(std::pair("ops", away.pid())));
    EXPECT_TRUE(told.not_gone.empty());
    orphan.wait();
    EXPECT_EQ(::waitpid(away.pid(), nullptr, WNOHANG), 0) << "it runs";
}

TEST(MarkedOrphans, AreHeldOnlyIfTheyAreStillWhoWasSeen) {
    const MarkedProcess orphan(variable, run_of_the_dead());
    const auto seen = *read_proc_stat(orphan.pid());
    auto another = seen;
    another.start_ticks -= 1;
    auto elsewhere = seen;
    elsewhere.group += 1;

    EXPECT_TRUE(hold_orphan(orphan.pid(), seen, "ops"));
    EXPECT_FALSE(hold_orphan(orphan.pid(), another, "ops")) << "its number was given anew";
    EXPECT_FALSE(hold_orphan(orphan.pid(), elsewhere, "ops"));
}

TEST(MarkedOrphans, ThatLeftTheirGroupAreToldApart) {
    const MarkedProcess daemon(variable, run_of_the_dead(), /*group_off=*/-1);
    const auto found = find_marked_orphans(variable, node);
    EXPECT_TRUE(found.in_group.empty());
    ASSERT_EQ(found.away.size(), 1U);
    EXPECT_EQ(found.away[0].pid, daemon.pid());
    EXPECT_EQ(found.away[0].name, "ops");
}

}  // namespace
}  // namespace knell
